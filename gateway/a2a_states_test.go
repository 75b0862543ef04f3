package gateway_test

import (
	"strings"
	"testing"

	"agent-stop-and-go/workflows/contract"
)

// The test suites of both versions search for words in error texts.
func TestErrorTextsThatClientsSearch(t *testing.T) {
	file := object{"kind": "file", "file": object{"bytes": "dGNr", "mimeType": "application/x-other"}}
	hello := object{"kind": "text", "text": "hello"}
	for name, c := range map[string]struct {
		method string
		params object
		code   float64
		words  string
	}{
		"a file of another type": {"message/send", object{"message": object{"messageId": "m", "role": "user", "parts": []any{hello, file}}},
			-32005, "incompatible content type not supported"},
		"no such task":                 {"tasks/get", object{"id": "nonexistent"}, -32001, "task not found"},
		"a task that cannot be there":  {"tasks/cancel", object{"id": someID}, -32001, "task not found"},
		"a webhook of no task":         {"tasks/pushNotificationConfig/get", object{"id": "nonexistent"}, -32001, "task not found"},
		"a card that is not announced": {"agent/getAuthenticatedExtendedCard", object{}, -32007, "extended card not configured"},
		"the same in 1.0":              {"GetExtendedAgentCard", object{}, -32004, "not supported"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newAPI(t, taskScript().backend()).rpc(c.method, c.params)
			text := strings.ToLower(r.text("error", "message"))
			if r.status != 200 || code(r) != c.code {
				t.Errorf("%d %s", r.status, r.raw)
			}
			for word := range strings.FieldsSeq(c.words) {
				if !strings.Contains(text, word) {
					t.Errorf("%q does not say %q", text, word)
				}
			}
		})
	}
}

// inState returns a task in a state that needs the client.
func inState(t *testing.T, want contract.TaskState) (*script, *api, string) {
	t.Helper()
	ends := map[contract.TaskState]contract.Outcome{
		contract.TaskAuthRequired: contract.OutcomeDone, contract.TaskCompleted: contract.OutcomeDone,
		contract.TaskFailed: contract.OutcomeFailed, contract.TaskRejected: contract.OutcomeRejected,
		contract.TaskCanceled: contract.OutcomeCancelled,
	}
	s := taskScript()
	s.onMessage = func(m contract.MessageSignal) {
		if want == contract.TaskSubmitted {
			return
		}
		s.begin(m)
		if outcome, ok := ends[want]; ok {
			s.end(m.RequestID, "Because.", outcome)
		}
		switch want {
		case contract.TaskInputRequired:
			s.wait(m, approvalUUID)
		case contract.TaskAuthRequired:
			s.change(func(v *contract.ConversationView) { v.Status, v.Last.AuthRequired = contract.StatusActive, "writer" })
		}
	}
	a := newAPI(t, s.backend())
	hello := said("m-1", "hello", nil)
	hello["configuration"] = object{"returnImmediately": true}
	r := a.rpc("SendMessage", hello)
	if code(r) != nil {
		t.Fatal(r.raw)
	}
	return s, a, r.text("result", "task", "id")
}

func TestEveryStateIsShownInEveryVersion(t *testing.T) {
	for want, names := range map[contract.TaskState]struct{ v10, v03 string }{
		contract.TaskSubmitted:     {"TASK_STATE_SUBMITTED", "submitted"},
		contract.TaskWorking:       {"TASK_STATE_WORKING", "working"},
		contract.TaskInputRequired: {"TASK_STATE_INPUT_REQUIRED", "input-required"},
		contract.TaskAuthRequired:  {"TASK_STATE_AUTH_REQUIRED", "auth-required"},
		contract.TaskCompleted:     {"TASK_STATE_COMPLETED", "completed"},
		contract.TaskFailed:        {"TASK_STATE_FAILED", "failed"},
		contract.TaskCanceled:      {"TASK_STATE_CANCELED", "canceled"},
		contract.TaskRejected:      {"TASK_STATE_REJECTED", "rejected"},
	} {
		t.Run(string(want), func(t *testing.T) {
			_, a, id := inState(t, want)
			if r := a.rpc("GetTask", object{"id": id}); state(r) != names.v10 {
				t.Errorf("1.0: %s", r.raw)
			}
			if r := a.rpc("tasks/get", object{"id": id}); state(r) != names.v03 {
				t.Errorf("0.3: %s", r.raw)
			}
		})
	}
}

func TestAFinishedTaskAcceptsNoMessage(t *testing.T) {
	for _, end := range []contract.TaskState{
		contract.TaskCompleted, contract.TaskFailed, contract.TaskCanceled, contract.TaskRejected,
	} {
		t.Run(string(end), func(t *testing.T) {
			s, a, id := inState(t, end)
			before := len(s.sent)
			of03 := object{"message": object{"messageId": "m-2", "role": "user", "taskId": id, "parts": []any{object{"kind": "text", "text": "more"}}}}
			for _, c := range []struct {
				method string
				params object
				code   float64
			}{
				{"SendMessage", said("m-2", "more", object{"taskId": id}), -32004},
				{"SendStreamingMessage", said("m-2", "more", object{"taskId": id}), -32004},
				{"SubscribeToTask", object{"id": id}, -32004},
				{"CancelTask", object{"id": id}, -32002},
				{"message/send", of03, -32004},
				{"tasks/cancel", object{"id": id}, -32002},
			} {
				if r := a.rpc(c.method, c.params); code(r) != c.code || r.status != 200 {
					t.Errorf("%s: %d %s", c.method, r.status, r.raw)
				}
			}
			if len(s.sent) != before {
				t.Error("a message arrived")
			}
		})
	}
}
