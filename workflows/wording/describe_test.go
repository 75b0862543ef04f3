package wording_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func failed(text string) contract.CallToolResult {
	return contract.CallToolResult{Text: contract.Inline(text), IsError: true}
}

func call(name, args string) contract.Call {
	return contract.Call{Name: name, Wording: contract.WordingResources, Arguments: contract.JSON{Raw: json.RawMessage(args)}}
}

func TestDescribe(t *testing.T) {
	const warning = "\n\n⚠️ This will remove all resources matching the pattern."
	tests := map[string]struct{ name, args, want string }{
		"adding":                       {"resources_add", `{"name":"web-1","value":42}`, "**ADD Resource**\n\nName: web-1\nValue: 42"},
		"adding a text":                {"resources_add", `{"name":"web-1","value":"42 "}`, "**ADD Resource**\n\nName: web-1\nValue: \"42 \""},
		"adding a big number":          {"resources_add", `{"name":"n","value":12345678901234567890}`, "**ADD Resource**\n\nName: n\nValue: 12345678901234567890"},
		"adding a number as written":   {"resources_add", `{"name":"n","value":1e3}`, "**ADD Resource**\n\nName: n\nValue: 1e3"},
		"adding zero":                  {"resources_add", `{"name":"","value":0}`, "**ADD Resource**\n\nName: \"\"\nValue: 0"},
		"adding without a value":       {"resources_add", `{"name":"web-1"}`, "**ADD Resource**\n\nName: web-1\nValue: <nil>"},
		"adding nothing":               {"resources_add", `{}`, "**ADD Resource**\n\nName: <nil>\nValue: <nil>"},
		"adding null":                  {"resources_add", `{"name":null,"value":null}`, "**ADD Resource**\n\nName: <nil>\nValue: <nil>"},
		"adding an object":             {"resources_add", `{"name":["a"],"value":{"b":true}}`, "**ADD Resource**\n\nName: [\"a\"]\nValue: {\"b\":true}"},
		"adding without arguments":     {"resources_add", ``, "**ADD Resource**\n\nName: <nil>\nValue: <nil>"},
		"removing by id":               {"resources_remove", `{"id":"17"}`, "**REMOVE Resource**\n\nID: 17"},
		"removing by numeric id":       {"resources_remove", `{"id":1710417600123456789}`, "**REMOVE Resource**\n\nID: 1710417600123456789"},
		"removing by pattern":          {"resources_remove", `{"pattern":"^web"}`, "**REMOVE Resources**\n\nPattern: ^web" + warning},
		"removing by null id":          {"resources_remove", `{"id":null,"pattern":"^web"}`, "**REMOVE Resources**\n\nPattern: ^web" + warning},
		"removing by empty id":         {"resources_remove", `{"id":"","pattern":"^web"}`, "**REMOVE Resources**\n\nPattern: ^web" + warning},
		"removing by both shows both":  {"resources_remove", `{"id":"17","pattern":".*"}`, "**REMOVE Resources**\n\nID: 17\nPattern: .*" + warning},
		"removing by an empty pattern": {"resources_remove", `{"id":"17","pattern":""}`, "**REMOVE Resource**\n\nID: 17"},
		"removing by neither":          {"resources_remove", `{}`, "**REMOVE Resource**\n\nArgs: {}"},
		"removing by anything else":    {"resources_remove", `{"name":"x"}`, "**REMOVE Resource**\n\nArgs: {\n  \"name\": \"x\"\n}"},
		"any other tool":               {"files_delete", `{"path":"/a","deep":true}`, "**FILES_DELETE**\n\nArgs: {\n  \"path\": \"/a\",\n  \"deep\": true\n}"},
		"without arguments":            {"reset", ``, "**RESET**\n\nArgs: {}"},
		"with empty arguments":         {"reset", `{}`, "**RESET**\n\nArgs: {}"},
		"with broken arguments":        {"reset", `{"a":`, "**RESET**\n\nArgs: \"{\\\"a\\\":\""},
		"with markup":                  {"say", `{"t":"<b>&"}`, "**SAY**\n\nArgs: {\n  \"t\": \"<b>&\"\n}"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := wording.Describe(call(tt.name, tt.args), ""); got != tt.want {
				t.Errorf("got\n%s\nexpected\n%s", got, tt.want)
			}
		})
	}
}

func TestDescribeShowsTheBeginningOfWhatIsTooLarge(t *testing.T) {
	b := contract.NewBlob([]byte(`{"name":"` + strings.Repeat("x", 9000) + `"}`))
	for _, name := range []string{"resources_add", "resources_remove", "other"} {
		got := wording.Describe(contract.Call{Name: name, Arguments: contract.JSON{Blob: &b}}, "")
		want := "**" + strings.ToUpper(name) + "**\n\nArgs: " + b.Preview + "… (9011 bytes)"
		if got != want {
			t.Errorf("%s: got\n%s\nexpected\n%s", name, got, want)
		}
	}
}

func TestAPreviewIsSetApart(t *testing.T) {
	c := contract.Call{Name: "update_prompt", Server: "prompts", Arguments: contract.JSON{Raw: []byte(`{}`)}, Preview: "-old\n+new\u202e\n"}
	want := "**UPDATE_PROMPT**\n\nArgs: {}\n\nWhat it changes, as prompts says:\n\n    -old\n    +new\\u202e"
	if got := wording.Describe(c, ""); got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
