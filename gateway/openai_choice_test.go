package gateway_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"

	"agent-stop-and-go/workflows/contract/toolchoice"
)

// What a client demands of the calls is a part of its message, in both APIs, and the response says so
// too.
func TestADemandOfCallsIsInTheMessage(t *testing.T) {
	const tools = `,"tools":[{"type":"function","name":"weather","function":{"name":"weather"}},{"type":"function","name":"send","function":{"name":"send"}}]`
	for choice, want := range map[string]toolchoice.Choice{
		`"auto"`:     {Single: true},
		`"none"`:     {Single: true},
		`"required"`: {Call: []string{"weather", "send"}, Single: true},
		`{"type":"function","name":"send","function":{"name":"send"}}`: {Call: []string{"send"}, Single: true},
	} {
		more := tools + `,"parallel_tool_calls":false,"tool_choice":` + choice
		for path, body := range map[string]string{
			"/v1/chat/completions": `{"model":"helper","messages":[{"role":"user","content":"hi"}]` + more + `}`,
			"/v1/responses":        `{"model":"helper","input":"hi"` + more + `}`,
		} {
			synctest.Test(t, func(t *testing.T) {
				m := newMany(t)
				c := chatting(t, m)
				defer c.Close()
				r := c.want(200, c.do("POST", path, body))
				for _, s := range m.scripts {
					got, wanted := fmt.Sprintf("%+v", s.sent[0].ToolChoice), fmt.Sprintf("%+v", want)
					if got != wanted {
						t.Errorf("%s, %s: %s; want %s", path, choice, got, wanted)
					}
				}
				if len(m.scripts) != 1 {
					t.Fatalf("%s: %d conversations", path, len(m.scripts))
				}
				if raw, err := json.Marshal(r.at("tool_choice")); path == "/v1/responses" && (err != nil || !sameJSON(t, string(raw), choice) || r.at("parallel_tool_calls") != false) {
					t.Errorf("%s is repeated as %s, %v", choice, raw, r.at("parallel_tool_calls"))
				}
			})
		}
	}
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal([]byte(a), &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(b), &y); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(x) == fmt.Sprint(y)
}

// A demand that cannot be met is refused in OpenAI's form, and nothing begins.
func TestABadDemandOfCallsBeginsNothing(t *testing.T) {
	m := newMany(t)
	c := chatting(t, m)
	const tools = `,"tools":[{"type":"function","name":"send","function":{"name":"send"}}]`
	for more, want := range map[string]string{
		tools + `,"tool_choice":{"type":"function","name":"resources_remove"}`:                                                                      "tool_choice: there is no function resources_remove in tools",
		tools + `,"tool_choice":{"type":"allowed_tools","mode":"required","tools":[{"type":"function","name":"x"}]}`:                                "tool_choice: there is no function x",
		tools + `,"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"x"}}]}}`: "tool_choice: there is no function x",
		tools + `,"tool_choice":{"type":"mcp","server_label":"resources","name":"resources_list"}`:                                                  "tool_choice: no tool of the agent can be demanded",
		tools + `,"tool_choice":{"type":"custom","name":"send","custom":{"name":"send"}}`:                                                           "tool_choice: expected the type function or allowed_tools, not custom",
		tools + `,"tool_choice":"always"`: "tool_choice: expected none, auto, required",
		`,"tool_choice":"required"`:       "tool_choice: required needs a function",
	} {
		for path, body := range map[string]string{
			"/v1/chat/completions": `{"model":"helper","messages":[{"role":"user","content":"hi"}]` + more + `}`,
			"/v1/responses":        `{"model":"helper","input":"hi"` + more + `}`,
		} {
			r := c.do("POST", path, body)
			c.wantError(400, want, r)
			if r.text("error", "type") != "invalid_request_error" {
				t.Errorf("%s", r.raw)
			}
		}
	}
	if len(m.scripts) != 0 {
		t.Errorf("%d conversations began", len(m.scripts))
	}
}
