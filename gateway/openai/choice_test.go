package openai_test

import (
	"encoding/json"
	"strings"
	"testing"

	"agent-stop-and-go/gateway/openai"
	"agent-stop-and-go/workflows/contract"
)

func TestChoose(t *testing.T) {
	tools := []contract.Tool{{Name: "read"}, {Name: "write"}}
	for raw, want := range map[string]string{
		``:                                   "read write",
		`null`:                               "read write",
		`"auto"`:                             "read write",
		`"required"`:                         "read write",
		`"none"`:                             "",
		`{"type":"function","name":"write"}`: "write",
		`{"type":"function","function":{"name":"write"}}`:                                                                   "write",
		`{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"read"},{"type":"mcp"}]}`:                 "read",
		`{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"read"}}]}}`: "read",
		`{"type":"allowed_tools","tools":[{"type":"function","name":"read"},{"type":"function","name":"read"}]}`:            "read",
		`{"type":"allowed_tools","tools":[]}`:                                                                               "",
		`{"type":"mcp","server_label":"notes"}`:                                                                             "read write",
		`{"type":"function","name":"delete"}`:                                                                               "error",
		`{"type":"function"}`:                                                                                               "error",
		`{"type":"allowed_tools","tools":[{"type":"function","name":"READ"}]}`:                                              "error",
		`{"type":"web_search"}`:                                                                                             "error",
		`"sometimes"`:                                                                                                       "error",
		`7`:                                                                                                                 "error",
		`["read"]`:                                                                                                          "error",
	} {
		got, err := openai.Choose(json.RawMessage(raw), tools)
		var names []string
		for _, tool := range got {
			names = append(names, tool.Name)
		}
		text := strings.Join(names, " ")
		if err != nil {
			text = "error"
		}
		if text != want {
			t.Errorf("%s: %q, %v; want %q", raw, text, err, want)
		}
	}
}
