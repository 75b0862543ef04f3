package gateway_test

import (
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// confirms is a message of an ADK client that answers an approval.
func confirms(id, uuid string, response object, more object) object {
	m := said(id, "", more)
	m["message"].(object)["parts"] = []any{object{
		"data":     object{"id": uuid, "name": "adk_request_confirmation", "response": response},
		"metadata": object{"adk_type": "function_response"},
	}}
	return m
}

// inContext starts a task that waits, and returns its context. The clock stands still, so
// that the gateway remembers the task however slow the machine is.
func inContext(t *testing.T, change ...func(*gateway.Deps)) (s *script, a *api, id string, context object) {
	t.Helper()
	s = taskScript()
	b := s.backend()
	read := b.ConversationFn
	b.ConversationFn = func(of, requestID string) (contract.ConversationView, error) {
		if view, err := read(of, requestID); err != nil || view.ID == of {
			return view, err
		}
		return contract.ConversationView{}, service.Errorf(contract.KindNotFound, "not found")
	}
	b.SubjectFn = func(uuid string) (service.Subject, error) {
		if uuid != approvalUUID {
			return service.Subject{}, service.Errorf(contract.KindNotFound, "not found")
		}
		return service.Subject{ConversationID: id}, nil
	}
	still := func(d *gateway.Deps) { d.Now = func() time.Time { return epoch } }
	a = newAPI(t, b, append([]func(*gateway.Deps){still}, change...)...)
	r := a.rpc("SendMessage", said("m-1", "drop all", object{"contextId": "ctx"}))
	id = r.text("result", "task", "id")
	if state(r) != "TASK_STATE_INPUT_REQUIRED" {
		t.Fatal(r.raw)
	}
	return s, a, id, object{"contextId": "ctx"}
}

func TestWordsWithoutATaskDecideNothing(t *testing.T) {
	for _, words := range []string{"approved", "rejected", "What is going on?", "approved " + approvalUUID} {
		for _, method := range []string{"SendMessage", "SendStreamingMessage"} {
			s, a, id, context := inContext(t)
			r := a.rpc(method, said("m-2", words, context))
			for _, want := range []string{"TASK_STATE_INPUT_REQUIRED", "Task " + id + " of this context waits", `"id":"` + id + `"`, "Approval required"} {
				if !strings.Contains(r.raw, want) {
					t.Errorf("%s %q: no %q in %s", method, words, want, r.raw)
				}
			}
			if len(s.decided) > 0 || len(s.sent) != 1 {
				t.Errorf("%s %q: %d decisions, %d messages", method, words, len(s.decided), len(s.sent))
			}
		}
	}
}

func TestAWaitingTaskIsFoundByVisibility(t *testing.T) {
	now := epoch
	s, a, id, context := inContext(t, func(d *gateway.Deps) { d.Now = func() time.Time { return now } })
	now = now.Add(time.Hour) // the gateway no longer remembers it
	a.backend.RunningInFn = func(contextID string, limit int) ([]string, error) {
		if contextID != "ctx" || limit < 2 {
			t.Errorf("asked for %d in %q", limit, contextID)
		}
		return []string{someID, id}, nil
	}
	if r := a.rpc("SendMessage", said("m-2", "approved", context)); !strings.Contains(r.raw, "Task "+id+" of this context waits") || len(s.decided) > 0 {
		t.Error(r.raw)
	}
}

func TestOtherMessagesBeginATask(t *testing.T) {
	for name, more := range map[string]object{"another context": {"contextId": "other"}, "no context": nil} {
		s, a, id, _ := inContext(t)
		var begun string
		a.backend.StartFn = func(in service.StartInput) (service.StartResult, error) {
			begun = in.Conversation.ID
			return service.StartResult{}, errUnexpected
		}
		if a.rpc("SendMessage", said("m-2", "hello", more)); begun == "" || begun == id || len(s.decided) > 0 {
			t.Errorf("%s: began %q", name, begun)
		}
	}
}

func TestARepeatedFirstMessageNamesItsTask(t *testing.T) {
	s, a, id, context := inContext(t)
	r := a.rpc("SendMessage", said("m-1", "drop all", context))
	if r.text("result", "task", "id") != id || strings.Contains(r.raw, "names no task") || len(s.sent) != 1 {
		t.Error(r.raw)
	}
}

func TestAFunctionResponseNamesItsTask(t *testing.T) {
	for name, more := range map[string]object{"with the context": {"contextId": "ctx"}, "with nothing": nil, "with the task": {"taskId": ""}} {
		for approved, want := range map[bool]string{true: "TASK_STATE_COMPLETED", false: "TASK_STATE_REJECTED"} {
			s, a, id, _ := inContext(t)
			if _, ok := more["taskId"]; ok {
				more["taskId"] = id
			}
			r := a.rpc("SendMessage", confirms("m-2", approvalUUID, object{"confirmed": approved}, more))
			if state(r) != want || r.text("result", "task", "id") != id {
				t.Errorf("%s: %s", name, r.raw)
			}
			if d, ok := s.decided[approvalUUID]; !ok || d.Approved != approved || d.Via != "a2a" {
				t.Errorf("%s: decided by %+v", name, d)
			}
		}
	}
}

func TestAFunctionResponseThatIsUnclearDecidesNothing(t *testing.T) {
	s, a, id, context := inContext(t)
	r := a.rpc("SendMessage", confirms("m-2", approvalUUID, object{"status": "pending"}, context))
	if state(r) != "TASK_STATE_INPUT_REQUIRED" || r.text("result", "task", "id") != id || !strings.Contains(r.raw, "neither yes nor no") {
		t.Error(r.raw)
	}
	r = a.rpc("SendMessage", confirms("m-3", otherID, object{"confirmed": true}, context))
	if state(r) != "TASK_STATE_INPUT_REQUIRED" || !strings.Contains(r.raw, "no approval that waits here") {
		t.Error(r.raw)
	}
	r = a.rpc("SendMessage", confirms("m-4", otherID, object{"confirmed": true}, nil))
	if code(r) != -32602.0 || !strings.Contains(r.raw, "no approval "+otherID+" waits here") {
		t.Error(r.raw)
	}
	r = a.rpc("SendMessage", confirms("m-5", approvalUUID, object{"confirmed": true}, object{"contextId": "other"}))
	if code(r) != -32602.0 {
		t.Errorf("another context: %s", r.raw)
	}
	if len(s.decided) > 0 || len(s.sent) != 1 {
		t.Errorf("%d decisions, %d messages", len(s.decided), len(s.sent))
	}
}

func TestApprovalsAreOfferedToADKInEveryVersion(t *testing.T) {
	_, a, id, _ := inContext(t)
	for method, version := range map[string]string{"GetTask": "1.0", "tasks/get": "0.3"} {
		r := a.rpc(method, object{"id": id}, "A2A-Version: "+version)
		for _, want := range []string{`"adk_type":"function_call"`, `"adk_is_long_running":true`, `"name":"adk_request_confirmation"`, `"type":"` + contract.TypeApprovalRequest + `"`} {
			if !strings.Contains(r.raw, want) {
				t.Errorf("%s: no %s in %s", method, want, r.raw)
			}
		}
	}
}
