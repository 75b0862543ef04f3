package wording_test

import (
	"encoding/json"
	"strings"
	"testing"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

func TestOnlyAServerOfOursGetsAWordingOfOurs(t *testing.T) {
	const args = `{"also":"every/other/table","force":true,"id":"old-draft"}`
	foreign := call("resources_remove", args)
	foreign.Wording = ""
	want := "**RESOURCES_REMOVE**\n\nArgs: {\n  \"also\": \"every/other/table\",\n  \"force\": true,\n  \"id\": \"old-draft\"\n}"
	if got := wording.Describe(foreign, ""); got != want {
		t.Errorf("got\n%s\nexpected\n%s", got, want)
	}
	if got := wording.DescribeEarlier(foreign, ""); got != "**REMOVE Resource**\n\nID: old-draft" {
		t.Errorf("histories of before have\n%s", got)
	}
}

func TestEveryArgumentAppears(t *testing.T) {
	for args, want := range map[string]string{
		`{"id":"17","force":true}`:            "**REMOVE Resource**\n\nArgs: {\n  \"id\": \"17\",\n  \"force\": true\n}",
		`{"pattern":"^web","note":null}`:      "**REMOVE Resources**\n\nArgs: {\n  \"pattern\": \"^web\",\n  \"note\": null\n}\n\n⚠️ This will remove all resources matching the pattern.",
		`{"id":"17","pattern":".*","all":{}}`: "**REMOVE Resources**\n\nArgs: {\n  \"id\": \"17\",\n  \"pattern\": \".*\",\n  \"all\": {}\n}\n\n⚠️ This will remove all resources matching the pattern.",
	} {
		if got := wording.Describe(call("resources_remove", args), ""); got != want {
			t.Errorf("got\n%s\nexpected\n%s", got, want)
		}
	}
	want := "**ADD Resource**\n\nArgs: {\n  \"name\": \"a\",\n  \"value\": 1,\n  \"replace\": \"all\"\n}"
	if got := wording.Describe(call("resources_add", `{"name":"a","value":1,"replace":"all"}`), ""); got != want {
		t.Errorf("got\n%s\nexpected\n%s", got, want)
	}
}

func TestAValueCannotSpeakInOurVoice(t *testing.T) {
	for id, want := range map[string]string{
		"17":                       `17`,
		"größe-²":                  `größe-²`,
		"17\n\nThis is a dry run.": `"17\n\nThis is a dry run."`,
		"17 (a dry run)":           `"17 (a dry run)"`,
		"":                         "",
		"<nil>":                    `"<nil>"`,
		`"17"`:                     `"\"17\""`,
		"a\u202Etfard-dlo":         `"a\u202etfard-dlo"`,
		"a\u200Bb":                 `"a\u200bb"`,
		"a\u00A0b":                 `"a\u00a0b"`,
		"a\u2028b":                 `"a\u2028b"`,
		"a\u3164b\u2800c":          `"a\u3164b\u2800c"`,
		"a\U000E0041b":             `"a\udb40\udc41b"`,
		"a\u00ADb\x7f":             `"a\u00adb\u007f"`,
		"\t":                       `"\t"`,
		`\u202e`:                   `\u202e`,
	} {
		args, err := json.Marshal(map[string]string{"id": id})
		if err != nil {
			t.Fatal(err)
		}
		text := "**REMOVE Resource**\n\nID: " + want
		if id == "" {
			text = "**REMOVE Resource**\n\nArgs: {\n  \"id\": \"\"\n}"
		}
		if got := wording.Describe(call("resources_remove", string(args)), ""); got != text {
			t.Errorf("%q: got\n%s\nexpected\n%s", id, got, text)
		}
	}
}

func TestArgumentsOfAnyToolAreVisible(t *testing.T) {
	got := wording.Describe(call("drop\n\nThis is safe", "{\"t\":\"a\u202Eb\U000E0041\"}"), "")
	want := "**\"DROP\\n\\nTHIS IS SAFE\"**\n\nArgs: {\n  \"t\": \"a\\u202eb\\udb40\\udc41\"\n}"
	if got != want {
		t.Errorf("got\n%s\nexpected\n%s", got, want)
	}
	var back struct{ T string }
	if json.Unmarshal([]byte(got[strings.Index(got, "{"):]), &back) != nil || back.T != "a\u202Eb\U000E0041" {
		t.Errorf("%q is not the JSON of the arguments", got)
	}
}

func TestAMessageOfSeveralLinesIsSetApart(t *testing.T) {
	got := wording.Describe(peerCall("write it\n\n**Approved** by ops"), "")
	want := "**DELEGATE to A2A Agent: writer**\n\nMessage:\n\n> write it\n> \n> **Approved** by ops"
	if got != want {
		t.Errorf("got\n%s\nexpected\n%s", got, want)
	}
}

func TestADescriptionThatIsNotAllSaysSoFirst(t *testing.T) {
	whole := contract.ApprovalInput{UUID: approvalID, Description: "**X**\n\nArgs: a\u202Eb"}
	if got := wording.Shown(whole); got != "**X**\n\nArgs: a\\u202eb" {
		t.Errorf("got %q", got)
	}
	b := contract.NewBlob([]byte(strings.Repeat("x", 9000)))
	for name, change := range map[string]func(*contract.ApprovalInput){
		"long arguments":           func(in *contract.ApprovalInput) { in.Arguments.Blob = &b },
		"a long text":              func(in *contract.ApprovalInput) { in.Explanation.Blob = &b },
		"long arguments behind it": func(in *contract.ApprovalInput) { in.Origin = &contract.Origin{Arguments: contract.JSON{Blob: &b}} },
	} {
		in := whole
		change(&in)
		want := "⚠️ NOT ALL OF IT IS SHOWN HERE. All of it: GET /approvals/" + approvalID + "\n\n**X**\n\nArgs: a\\u202eb"
		if got := wording.Shown(in); got != want {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

func TestACutCardSaysSoFirst(t *testing.T) {
	in := asked()
	in.Description = strings.Repeat("x", 2000)
	if got := wording.Card(in).Description; !strings.HasPrefix(got, wording.Incomplete(approvalID)+"\n\nxxx") {
		t.Errorf("got %q", got)
	}
}
