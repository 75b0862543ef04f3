package openai_test

import (
	"encoding/json"
	"strings"
	"testing"

	"agent-stop-and-go/gateway/openai"
	"agent-stop-and-go/workflows/contract"
)

// A choice leaves tools, and after the bar are those of which the first reply calls one.
func TestChoose(t *testing.T) {
	for raw, want := range map[string]string{
		`{}`:                            "read write|",
		`{"tool_choice":null}`:          "read write|",
		`{"tool_choice":"auto"}`:        "read write|",
		`{"tool_choice":"required"}`:    "read write|read write",
		`{"tool_choice":"none"}`:        "|",
		`{"parallel_tool_calls":true}`:  "read write|",
		`{"parallel_tool_calls":null}`:  "read write|",
		`{"parallel_tool_calls":false}`: "read write| single",
		`{"tool_choice":"required","parallel_tool_calls":false}`:                                                                                "read write|read write single",
		`{"tool_choice":"none","parallel_tool_calls":false}`:                                                                                    "| single",
		`{"tool_choice":{"type":"function","name":"write"}}`:                                                                                    "read write|write",
		`{"tool_choice":{"type":"function","function":{"name":"write"}}}`:                                                                       "read write|write",
		`{"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"read"},{"type":"mcp"}]}}`:                     "read|",
		`{"tool_choice":{"type":"allowed_tools","mode":"required","tools":[{"type":"function","name":"read"},{"type":"mcp"}]}}`:                 "tool_choice: required is about functions",
		`{"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"read"}}]}}}`:     "read|",
		`{"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"read"}}]}}}`: "read|read",
		`{"tool_choice":{"type":"allowed_tools","tools":[{"type":"function","name":"read"},{"type":"function","name":"read"}]}}`:                "read|",
		`{"tool_choice":{"type":"allowed_tools","tools":[]}}`:                                                                                   "|",
		`{"tool_choice":{"type":"mcp","server_label":"notes"}}`:                                                                                 "tool_choice: no tool of the agent can be demanded",
		`{"tool_choice":{"type":"allowed_tools","mode":"required","tools":[]}}`:                                                                 "tool_choice: required needs a function in tools",
		`{"tool_choice":{"type":"allowed_tools","mode":"none","tools":[{"type":"function","name":"read"}]}}`:                                    "|",
		`{"tool_choice":{"type":"allowed_tools","mode":"often","tools":[]}}`:                                                                    "tool_choice: expected the mode none, auto or required, not often",
		`{"tool_choice":{"type":"function","name":"delete"}}`:                                                                                   "tool_choice: there is no function delete in tools",
		`{"tool_choice":{"type":"function"}}`:                                                                                                   "tool_choice: there is no function  in tools",
		`{"tool_choice":{"type":"allowed_tools","tools":[{"type":"function","name":"READ"}]}}`:                                                  "tool_choice: there is no function READ in tools",
		`{"tool_choice":{"type":"web_search"}}`:                                                                                                 "tool_choice: expected the type",
		`{"tool_choice":{"type":"custom","custom":{"name":"read"}}}`:                                                                            "tool_choice: expected the type function or allowed_tools, not custom",
		`{"tool_choice":{"type":"allowed_tools","tools":[{"type":"web_search"}]}}`:                                                              "tool_choice: expected functions and mcp in allowed_tools, not web_search",
		`{"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"custom","custom":{"name":"read"}}]}}}`:         "tool_choice: expected functions and mcp in allowed_tools, not custom",
		`{"tool_choice":"sometimes"}`: "tool_choice: expected none, auto",
		`{"tool_choice":7}`:           "tool_choice: expected a word or an object",
		`{"tool_choice":["read"]}`:    "tool_choice: expected a word or an object",
	} {
		if got := chosen(t, raw, contract.Tool{Name: "read"}, contract.Tool{Name: "write"}); got != want && (!strings.HasPrefix(want, "tool_choice: ") || !strings.HasPrefix(got, want)) {
			t.Errorf("%s: %q; want %q", raw, got, want)
		}
	}
	if got := chosen(t, `{"tool_choice":"required"}`); !strings.HasPrefix(got, "tool_choice: required needs a function") {
		t.Errorf("required without tools: %q", got)
	}
}

func chosen(t *testing.T, raw string, tools ...contract.Tool) string {
	t.Helper()
	var d openai.Demand
	if err := json.Unmarshal([]byte(raw), &d); err != nil {
		t.Fatal(err)
	}
	left, choice, err := d.Choose(tools)
	if err != nil {
		return err.Error()
	}
	var names []string
	for _, tool := range left {
		names = append(names, tool.Name)
	}
	out := strings.Join(names, " ") + "|" + strings.Join(choice.Call, " ")
	if choice.Single {
		out += " single"
	}
	return out
}
