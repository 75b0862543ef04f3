package answer_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/workflows/answer"
	"agent-stop-and-go/workflows/contract"
)

// schemas are schemas of questions of servers.
var schemas = map[string]string{
	"nothing": `{"type":"object","properties":{}}`,
	"text":    `{"type":"object","properties":{"name":{"type":"string","minLength":2,"maxLength":5}},"required":["name"]}`,
	"whole":   `{"type":"object","properties":{"n":{"type":"integer","minimum":1,"maximum":10}},"required":["n"]}`,
	"number":  `{"type":"object","properties":{"x":{"type":"number"}}}`,
	"yes":     `{"type":"object","properties":{"sure":{"type":"boolean"}},"required":["sure"]}`,
	"enum":    `{"type":"object","properties":{"c":{"type":"string","enum":["Red","green","no"]}},"required":["c"]}`,
	"titled":  `{"type":"object","properties":{"c":{"type":"string","oneOf":[{"const":"r","title":"Red"},{"const":"g","title":"Green"}]}}}`,
	"list":    `{"type":"object","properties":{"c":{"type":"array","maxItems":2,"items":{"type":"string","enum":["a","b","c"]}}},"required":["c"]}`,
	"main":    `{"type":"object","properties":{"id":{"type":"integer"},"why":{"type":"string"},"how":{"type":"string"}},"required":["id"]}`,
	"two":     `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["a","b"]}`,
	"free":    `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}}}`,
	"edits":   `{"type":"object","properties":{"edit":{"type":"object"}}}`,
	"odd":     `{"type":"object","properties":{"a":{"type":"mystery"},"b":{"minLength":"x"}}}`,
	"none":    `null`,
	"doubt":   contract.UnknownOutcomeSchema,
}

const no = "(declined)"

type answerCase struct{ schema, given, want string }

// outcomeOf returns the outcome of an answer: its content, "no", or "" for one that was not
// accepted.
func outcomeOf(t *testing.T, c answerCase, r answer.Reply, err error) string {
	t.Helper()
	switch {
	case err != nil && !strings.Contains(err.Error(), "accepted is {"):
		t.Errorf("%s to %s: %v; it must say what is accepted", c.given, c.schema, err)
		return ""
	case err != nil:
		if diff := cmp.Diff(answer.Reply{}, r); diff != "" {
			t.Errorf("%s to %s: an error with a reply: %s", c.given, c.schema, diff)
		}
		return ""
	case !r.Approved && r.Content == nil:
		return no
	}
	return string(r.Content)
}

func TestAnswersToQuestionsThroughTheAPI(t *testing.T) {
	for _, c := range []answerCase{
		{"text", `{"content":{"name":"abc"}}`, `{"name":"abc"}`},
		{"text", `{"content":{"name":"abc"},"name":"abd"}`, ""},
		{"doubt", `{"approved":true}`, `{}`},
		{"doubt", `{"answer":"ran"}`, `{"outcome":"ran"}`},
		{"doubt", `{"content":{"outcome":"ran","result":"17"}}`, `{"outcome":"ran","result":"17"}`},
		{"doubt", `{"content":{"result":"17"}}`, ""},
		{"doubt", `{"approved":true,"outcome":"ran"}`, ""},
		{"doubt", `{"approved":true,"result":"17"}`, ""},
		{"doubt", `{"approved":true,"Outcome":"ran"}`, ""},
		{"text", `{"content":{"name":"abc"},"approved":true}`, `{"name":"abc"}`},
		{"text", `{"content":{"name":"abc"},"action":"accept"}`, `{"name":"abc"}`},
		{"text", `{"answer":"abc"}`, `{"name":"abc"}`},
		{"text", `"abc"`, `{"name":"abc"}`},
		{"text", `true`, `{"name":"true"}`},
		{"text", `"no"`, no},
		{"text", `"Declined"`, no},
		{"text", `{"answer":"cancel"}`, no},
		{"text", `{"action":"decline"}`, no},
		{"text", `{"approved":false}`, no},
		{"text", `{"approved":"no","answer":""}`, no},
		{"text", `{"content":{"name":"no"}}`, `{"name":"no"}`},
		{"text", `{"content":{"name":"a"}}`, ``},
		{"text", `{"content":{"name":"abcdef"}}`, ``},
		{"text", `{"content":{"name":5}}`, ``},
		{"text", `{"content":{"name":null}}`, ``},
		{"text", `{"content":{}}`, ``},
		{"text", `{"content":"abc"}`, ``},
		{"text", `{"content":null}`, ``},
		{"text", `{"content":{"name":"abc","more":1}}`, ``},
		{"text", `{"content":{"name":"abc"},"approved":false}`, ``},
		{"text", `{"content":{"name":"abc"},"answer":"xyz"}`, ``},
		{"text", `{"approved":true}`, ``},
		{"text", `{}`, ``},
		{"text", `null`, ``},
		{"text", `[]`, ``},
		{"text", `{"answer":{"name":"abc"}}`, ``},
		{"text", `nonsense`, ``},
		{"whole", `3`, `{"n":3}`},
		{"whole", `{"answer":3}`, `{"n":3}`},
		{"whole", `{"answer":"3"}`, `{"n":3}`},
		{"whole", `{"content":{"n":3.0}}`, `{"n":3.0}`},
		{"whole", `{"content":{"n":"3"}}`, ``},
		{"whole", `{"content":{"n":0}}`, ``},
		{"whole", `11`, ``},
		{"whole", `3.5`, ``},
		{"whole", `{"content":{"n":1e999999999}}`, ``},
		{"yes", `{"answer":"no"}`, `{"sure":false}`},
		{"yes", `false`, `{"sure":false}`},
		{"yes", `"YES"`, `{"sure":true}`},
		{"yes", `{"approved":false}`, no},
		{"yes", `"cancel"`, no},
		{"yes", `{"approved":true}`, ``},
		{"nothing", `{"approved":true}`, `{}`},
		{"nothing", `"ok"`, `{}`},
		{"nothing", `{"content":{}}`, `{}`},
		{"nothing", `"perhaps"`, ``},
		{"none", `"yes"`, `{}`},
		{"free", `{"approved":true}`, `{}`},
		{"free", `"yes"`, `{}`},
		{"doubt", `{"approved":true}`, `{}`},
		{"doubt", `{"answer":"yes"}`, `{}`},
		{"doubt", `"ran"`, `{"outcome":"ran"}`},
		{"doubt", `{"answer":"RAN","by":"alice"}`, `{"outcome":"ran"}`},
		{"doubt", `{"content":{"outcome":"ran","result":"17 rows"}}`, `{"outcome":"ran","result":"17 rows"}`},
		{"doubt", `{"approved":false}`, no},
		{"doubt", `"reject"`, no},
		{"doubt", `{"approved":false,"answer":"ran"}`, ``},
		{"doubt", `{"content":{"outcome":"perhaps"}}`, ``},
		{"doubt", `"perhaps"`, ``},
		{"free", `"abc"`, ``},
		{"two", `{"content":{"a":"x","b":2}}`, `{"a":"x","b":2}`},
		{"two", `"x"`, ``},
		{"two", `"decline"`, no},
		{"odd", `{"content":{"a":[1],"b":{}}}`, `{"a":[1],"b":{}}`},
		{"list", `{"content":{"c":["a","c"]}}`, `{"c":["a","c"]}`},
		{"list", `{"content":{"c":["a","d"]}}`, ``},
		{"list", `{"content":{"c":["a","b","c"]}}`, ``},
		{"list", `"b"`, `{"c":["b"]}`},
		{"free", `{"approved":true,"edit":{"a":1}}`, ``},
		{"free", `{"approved":true,"edit":null}`, `{}`},
		{"edits", `{"content":{"edit":{"a":1}}}`, `{"edit":{"a":1}}`},
	} {
		r, err := answer.ParseQuestion(json.RawMessage(c.given), json.RawMessage(schemas[c.schema]))
		if got := outcomeOf(t, c, r, err); got != c.want {
			t.Errorf("%s to %s: %q (%v), expected %q", c.given, c.schema, got, err, c.want)
		}
	}
}

func TestAnswersToQuestionsInAMessage(t *testing.T) {
	for _, c := range []answerCase{
		{"text", ` abc `, `{"name":"abc"}`},
		{"text", `"abc`, `{"name":"\"abc"}`},
		{"text", `{"name":"abc"}`, `{"name":"abc"}`},
		{"text", `{"content":{"name":"abc"}}`, `{"name":"abc"}`},
		{"text", `No`, no},
		{"text", `cancel`, no},
		{"text", `decline`, no},
		{"text", ``, ``},
		{"text", `too long`, ``},
		{"whole", `7`, `{"n":7}`},
		{"whole", `seven`, ``},
		{"whole", `NaN`, ``},
		{"whole", `0x10`, ``},
		{"number", `-1.5e3`, `{"x":-1.5e3}`},
		{"number", `true`, ``},
		{"yes", `no`, `{"sure":false}`},
		{"yes", `yes`, `{"sure":true}`},
		{"yes", `decline`, no},
		{"yes", `maybe`, ``},
		{"enum", `Red`, `{"c":"Red"}`},
		{"enum", `GREEN`, `{"c":"green"}`},
		{"enum", `no`, `{"c":"no"}`},
		{"enum", `decline`, no},
		{"enum", `blue`, ``},
		{"titled", `Green`, `{"c":"g"}`},
		{"titled", `r`, `{"c":"r"}`},
		{"main", `5`, `{"id":5}`},
		{"main", `{"id":5,"why":"so"}`, `{"id":5,"why":"so"}`},
		{"two", `{"a":"x","b":2}`, `{"a":"x","b":2}`},
		{"two", `{"a":"x"}`, ``},
		{"two", `{"a":`, ``},
		{"two", `no`, no},
		{"doubt", `approved`, `{}`},
		{"doubt", `ran`, `{"outcome":"ran"}`},
		{"doubt", `{"outcome":"ran","result":"x"}`, `{"outcome":"ran","result":"x"}`},
		{"doubt", `rejected`, no},
		{"main", `{"content":{"id":5},"edit":{"id":6}}`, ``},
		{"edits", `{"edit":{"a":1}}`, `{"edit":{"a":1}}`},
	} {
		r, err := answer.ParseText(c.given, json.RawMessage(schemas[c.schema]))
		if got := outcomeOf(t, c, r, err); got != c.want {
			t.Errorf("%s to %s: %q (%v), expected %q", c.given, c.schema, got, err, c.want)
		}
	}
}

func TestWhatAQuestionAccepts(t *testing.T) {
	for schema, want := range map[string]string{
		"nothing": `accepted is {"content":{}}, or yes; {"approved":false} or decline declines`,
		"enum":    `accepted is {"content":{…}} with "c" (one of Red, green, no, required), or just the value of "c"; {"approved":false} or decline declines`,
		"two":     `accepted is {"content":{…}} with "a" (string, required), "b" (integer, required); {"approved":false} or decline declines`,
		"odd":     `accepted is {"content":{…}} with "a" (any value, optional), "b" (any value, optional), or yes; {"approved":false} or decline declines`,
		"list":    `accepted is {"content":{…}} with "c" (a list of a, b, c, required), or just the value of "c"; {"approved":false} or decline declines`,
	} {
		if got := answer.AcceptedBy(json.RawMessage(schemas[schema])); got != want {
			t.Errorf("%s:\n%s, expected\n%s", schema, got, want)
		}
	}
}

func TestWhatIsSaidOfManyFieldsIsBounded(t *testing.T) {
	fields := map[string]any{}
	for i := range 2000 {
		fields[fmt.Sprintf("field%04d%s", i, strings.Repeat("x", 100))] = map[string]any{"type": "string"}
	}
	schema, err := json.Marshal(map[string]any{"properties": fields, "required": []string{"field0000" + strings.Repeat("x", 100)}})
	if err != nil {
		t.Fatal(err)
	}
	got := answer.AcceptedBy(schema)
	if len(got) > 5<<10 || !strings.Contains(got, "more that its schema has") || !strings.Contains(got, `"field0000xxx`) {
		t.Errorf("%d bytes: %s", len(got), got)
	}
	if _, err := answer.ParseQuestion(json.RawMessage(`{"content":{}}`), schema); err == nil || len(err.Error()) > 6<<10 {
		t.Errorf("a missing field: %v", err)
	}
}

func TestWhatIsSaidAboutAnAnswerIsKept(t *testing.T) {
	raw, err := json.Marshal(contract.DecideSignal{
		RequestID: "r", Approved: true, By: "ops", Reason: "looked fine", Via: "rest", Chain: []string{"front"}, Credential: "v1.k.x",
		Content: contract.JSON{Raw: json.RawMessage(`{"name":"abc"}`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := answer.ParseQuestion(raw, json.RawMessage(schemas["text"]))
	want := answer.Reply{
		Answer:  answer.Answer{Approved: true, By: "ops", Reason: "looked fine", RequestID: "r", Via: "rest", Chain: []string{"front"}, Credential: "v1.k.x"},
		Content: json.RawMessage(`{"name":"abc"}`),
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	long, _ := json.Marshal(strings.Repeat("x", 40<<10))
	if _, err := answer.ParseQuestion(long, json.RawMessage(schemas["free"])); err == nil {
		t.Error("an answer of 40 KiB was taken")
	}
}

func FuzzParseQuestion(f *testing.F) {
	for _, s := range schemas {
		f.Add([]byte(`{"content":{"a":1}}`), []byte(s))
		f.Add([]byte(`"yes"`), []byte(s))
	}
	f.Fuzz(func(t *testing.T, raw, schema []byte) {
		r, err := answer.ParseQuestion(raw, schema)
		if err == nil && r.Approved && !json.Valid(r.Content) || err == nil && !r.Approved && r.Content != nil {
			t.Fatalf("%q to %q: %+v", raw, schema, r)
		}
		if err == nil && r.Approved { // the workflow accepts the gateway's signal
			sent, _ := json.Marshal(contract.DecideSignal{Approved: true, Content: contract.JSON{Raw: r.Content}})
			if again, err := answer.ParseQuestion(sent, schema); err != nil || !again.Approved {
				t.Fatalf("%q to %q: %s, then %+v, %v", raw, schema, r.Content, again, err)
			}
		}
		_, _ = answer.ParseText(string(raw), schema)
	})
}
