package protocol_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"agent-stop-and-go/gateway/a2a/protocol"
)

const helloOld = `{"message":{"role":"user","parts":[{"type":"text","text":"hi"}]}}`

// taskWith returns a task with texts in its status and artifacts.
func taskWith(state a2a.TaskState, status string, artifacts ...string) *a2a.Task {
	t := task(state)
	if status != "" {
		t.Status.Message = a2a.NewMessage(a2a.MessageRoleAgent, a2a.NewTextPart(status))
	}
	for _, text := range artifacts {
		t.Artifacts = append(t.Artifacts, &a2a.Artifact{Parts: a2a.ContentParts{a2a.NewTextPart(text)}})
	}
	return t
}

func TestTasksInTheOldDialect(t *testing.T) {
	pieces := taskWith(a2a.TaskStateCompleted, "")
	pieces.Artifacts = []*a2a.Artifact{{Parts: a2a.ContentParts{a2a.NewTextPart("one "), a2a.NewDataPart(1), a2a.NewTextPart("text")}}}
	for _, tt := range []struct {
		name string
		task *a2a.Task
		want string
	}{
		{"completed", taskWith(a2a.TaskStateCompleted, "", "done"),
			`{"id":"t1","status":{"state":"completed"},"artifact":{"parts":[{"type":"text","text":"done"}]}}`},
		{"two artifacts", taskWith(a2a.TaskStateCompleted, "", "one", "two"),
			`{"id":"t1","status":{"state":"completed"},"artifact":{"parts":[{"type":"text","text":"one\ntwo"}]}}`},
		{"an artifact in pieces", pieces,
			`{"id":"t1","status":{"state":"completed"},"artifact":{"parts":[{"type":"text","text":"one text"}]}}`},
		{"input required", taskWith(a2a.TaskStateInputRequired, "Approval required (id: u): delete"),
			`{"id":"t1","status":{"state":"input-required","message":"Approval required (id: u): delete"},
			"artifact":{"parts":[{"type":"text","text":"Approval required (id: u): delete"}]}}`},
		{"auth required", taskWith(a2a.TaskStateAuthRequired, "log in", "what I have"),
			`{"id":"t1","status":{"state":"auth-required","message":"log in"},"artifact":{"parts":[{"type":"text","text":"what I have"}]}}`},
		{"rejected", taskWith(a2a.TaskStateRejected, "no"),
			`{"id":"t1","status":{"state":"completed","message":"no"},"artifact":{"parts":[{"type":"text","text":"no"}]}}`},
		{"canceled", taskWith(a2a.TaskStateCanceled, ""), `{"id":"t1","status":{"state":"canceled"}}`},
		{"failed", taskWith(a2a.TaskStateFailed, ""), `{"id":"t1","status":{"state":"failed"}}`},
		{"working", taskWith(a2a.TaskStateWorking, ""), `{"id":"t1","status":{"state":"working"}}`},
		{"submitted", taskWith(a2a.TaskStateSubmitted, ""), `{"id":"t1","status":{"state":"submitted"}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := post(t, sends(tt.task), `{"jsonrpc":"2.0","id":1,"method":"message/send","params":`+helloOld+`}`)
			if got.ID != 1.0 {
				t.Errorf("got %s", got.body)
			}
			same(t, got.Result, tt.want)
		})
	}
}

func TestRequestsReadAsTheOldDialect(t *testing.T) {
	for _, tt := range []struct{ name, params, text, taskID string }{
		{"parts with a type", helloOld, "hi", ""},
		{"a taskId beside the message", `{"taskId":"t9","message":{"role":"user","parts":[{"type":"text","text":"approved"}]}}`, "approved", "t9"},
		{"the first text that is not empty", `{"message":{"parts":[{"type":"data","text":"no"},{"type":"text","text":""},{"type":"text","text":"first"},{"type":"text","text":"second"}]}}`, "first", ""},
		{"the taskId in the message is not used", `{"message":{"role":"user","taskId":"t9","parts":[{"type":"text","text":"hi"}]}}`, "hi", ""},
		{"the role is not checked", `{"message":{"role":"anything","parts":[{"type":"text","text":"hi"}]}}`, "hi", ""},
		{"no role", `{"message":{"parts":[{"type":"text","text":"hi"}]}}`, "hi", ""},
		{"an empty taskId", `{"taskId":"","message":{"parts":[{"type":"text","text":"hi"}]}}`, "hi", ""},
		{"null for a taskId", `{"taskId":null,"message":{"parts":[{"type":"text","text":"hi"}]}}`, "hi", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var call protocol.Call
			var req *a2a.SendMessageRequest
			h := &fake{SendFn: func(ctx context.Context, r *a2a.SendMessageRequest) (*a2a.Task, error) {
				call, req = protocol.CallOf(ctx), r
				return task(a2a.TaskStateCompleted), nil
			}}
			if got := post(t, h, rpc("message/send", tt.params)); got.Error != nil {
				t.Fatal(got.body)
			}
			m := req.Message
			if call.Dialect != protocol.Old || m.Role != a2a.MessageRoleUser || m.ID == "" || len(m.Parts) != 1 {
				t.Errorf("got %s %+v", call.Dialect, m)
			}
			if m.Parts[0].Text() != tt.text || string(m.TaskID) != tt.taskID {
				t.Errorf("got %q for task %q", m.Parts[0].Text(), m.TaskID)
			}
		})
	}
}

func TestTheOldDialectDoesNotCheckTheVersionOfJSONRPC(t *testing.T) {
	for _, version := range []string{``, `"jsonrpc":"1.0",`, `"jsonrpc":2,`} {
		got := post(t, sends(task(a2a.TaskStateCompleted)), `{`+version+`"id":1,"method":"message/send","params":`+helloOld+`}`)
		if got.Error != nil || !strings.Contains(got.body, `"jsonrpc":"2.0"`) {
			t.Errorf("%s: got %s", version, got.body)
		}
	}
}

func TestErrorsInTheOldDialect(t *testing.T) {
	missing := failing(a2a.NewError(a2a.ErrTaskNotFound, "no such task"))
	for _, tt := range []struct {
		name, params string
		code         int
		text         string
	}{
		{"an unknown task", `{"taskId":"t9","message":{"role":"user","parts":[{"type":"text","text":"hi"}]}}`, -32602, "Task not found: t9"},
		{"no text", `{"message":{"parts":[{"type":"text","text":""}]}}`, -32602, "No text part in message"},
		{"an unknown type", `{"message":{"role":"user","parts":[{"type":"unsupported_type","text":"x"}]}}`, -32602, "No text part in message"},
		{"kind where type should be", `{"taskId":"t9","message":{"parts":[{"kind":"text","text":"x"}]}}`, -32602, "No text part in message"},
		{"no parts", `{"taskId":"t9","message":{"role":"user","parts":[]}}`, -32602, "No text part in message: parts is empty"},
		{"no parts, and no task", `{"message":{"role":"user","parts":[]}}`, -32602, "No text part in message: parts is empty"},
		{"no message", `{"taskId":"t9"}`, -32602, "No text part in message"},
		{"a text that is none", `{"message":{"parts":[{"type":"text","text":5}]}}`, -32602, "Invalid params"},
		{"a message that is none", `{"taskId":"t9","message":5}`, -32602, "Invalid params"},
		{"a taskId that is none", `{"taskId":9,"message":{"parts":[{"type":"text","text":"x"}]}}`, -32602, "Invalid params"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := post(t, missing, rpc("message/send", tt.params))
			want := fmt.Sprintf(`{"code":%d,"message":%q}`, tt.code, tt.text)
			if got.status != 200 || got.ID != "1" {
				t.Errorf("got %d %s", got.status, got.body)
			}
			same(t, got.Error, want)
		})
	}
}

func TestAnOldTaskIsReadInTheDialectItWasMadeIn(t *testing.T) {
	mine := taskWith(a2a.TaskStateCompleted, "", "done")
	mine.Metadata = map[string]any{protocol.MetadataDialect: string(protocol.Old)}
	old := `{"id":"t1","status":{"state":"completed"},"artifact":{"parts":[{"type":"text","text":"done"}]}}`
	for _, tt := range []struct {
		name, body string
		header     []string
		old        bool
	}{
		{"an integral id and nothing else", `{"jsonrpc":"2.0","id":2,"method":"tasks/get","params":{"id":"t1"}}`, nil, true},
		{"a text for an id", `{"jsonrpc":"2.0","id":"2","method":"tasks/get","params":{"id":"t1"}}`, nil, false},
		{"no id", `{"jsonrpc":"2.0","method":"tasks/get","params":{"id":"t1"}}`, nil, false},
		{"a history length", `{"jsonrpc":"2.0","id":2,"method":"tasks/get","params":{"id":"t1","historyLength":1}}`, nil, false},
		{"a version", `{"jsonrpc":"2.0","id":2,"method":"tasks/get","params":{"id":"t1"}}`, []string{"A2A-Version", "0.3"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := post(t, sends(mine), tt.body, tt.header...)
			if tt.old {
				same(t, got.Result, old)
				return
			}
			if !strings.Contains(got.body, `"kind":"task"`) || strings.Contains(got.body, "dialect") {
				t.Errorf("got %s", got.body)
			}
		})
	}
}

func TestOtherTasksAreReadIn03(t *testing.T) {
	got := post(t, sends(task(a2a.TaskStateCompleted)), `{"jsonrpc":"2.0","id":2,"method":"tasks/get","params":{"id":"t1"}}`)
	if !strings.Contains(got.body, `"kind":"task"`) {
		t.Errorf("got %s", got.body)
	}
	missing := failing(a2a.ErrTaskNotFound)
	if got := post(t, missing, `{"jsonrpc":"2.0","id":2,"method":"tasks/get","params":{"id":"t1"}}`); got.code() != -32001 {
		t.Errorf("got %s", got.body)
	}
}

func TestAnOldTaskIsAnOrdinaryOneIn10(t *testing.T) {
	mine := task(a2a.TaskStateCompleted)
	mine.Metadata = map[string]any{protocol.MetadataDialect: string(protocol.Old)}
	got := post(t, sends(mine), `{"jsonrpc":"2.0","id":2,"method":"GetTask","params":{"id":"t1"}}`)
	same(t, got.Result, `{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED","timestamp":"`+noonWritten+`"}}`)
}
