package document_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestKeysComeInTheOrderOfTheOldFiles(t *testing.T) {
	data := render(t, memory{}, conversation())
	var d struct {
		Messages        []json.RawMessage
		PendingApproval json.RawMessage `json:"pending_approval"`
		PipelineState   json.RawMessage `json:"pipeline_state"`
	}
	decode(t, data, &d)
	var call struct {
		ToolCall json.RawMessage `json:"tool_call"`
	}
	decode(t, d.Messages[4], &call)

	check := func(what string, data []byte, want ...string) {
		t.Helper()
		got := keys(t, data)
		if diff := cmp.Diff(want, got[:min(len(want), len(got))]); diff != "" {
			t.Errorf("first keys of a %s (-want +got):\n%s", what, diff)
		}
	}
	check("conversation", data, "id", "session_id", "status", "messages", "pending_approval", "pipeline_state",
		"created_at", "updated_at")
	check("message", d.Messages[2], "id", "role", "content", "tool_call", "created_at")
	check("tool call", call.ToolCall, "name", "arguments", "result", "is_error")
	check("pending approval", d.PendingApproval, "uuid", "conversation_id", "tool_name", "tool_args", "description",
		"remote_task_id", "remote_agent_name", "created_at")
	check("pipeline state", d.PipelineState, "paused_node_path", "paused_node_output_key", "session_state", "user_message")
}

// The export reads the version from the end of the file.
func TestTheVersionIsTheLastKey(t *testing.T) {
	names := keys(t, render(t, memory{}, conversation()))
	if last := names[len(names)-1]; last != "version" {
		t.Errorf("the last key is %s", last)
	}
}

func decode(t *testing.T, data []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatal(err)
	}
}

// keys lists the keys of an object in their order.
func keys(t *testing.T, data []byte) []string {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	var out []string
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, key.(string))
		var skip json.RawMessage
		if err := dec.Decode(&skip); err != nil {
			t.Fatal(err)
		}
	}
	return out
}
