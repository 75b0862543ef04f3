package gateway_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// waiting starts a task that waits for an approval.
func waiting(t *testing.T, change ...func(*gateway.Deps)) (*script, *api, string) {
	t.Helper()
	s := taskScript()
	a := newAPI(t, s.backend(), change...)
	r := a.rpc("SendMessage", said("m-1", "drop all", nil))
	if state(r) != "TASK_STATE_INPUT_REQUIRED" || !strings.Contains(r.raw, `"uuid":"`+approvalUUID+`"`) {
		t.Fatal(r.raw)
	}
	return s, a, r.text("result", "task", "id")
}

func TestOnlyWordsOfADecisionDecide(t *testing.T) {
	s, a, id := waiting(t)
	r := a.rpc("SendMessage", said("m-2", "What does it do?", object{"taskId": id}))
	if state(r) != "TASK_STATE_INPUT_REQUIRED" || !strings.Contains(r.raw, "is no answer") || len(s.decided) > 0 {
		t.Errorf("a question: %s", r.raw)
	}
	if r := a.rpc("SendMessage", said("m-2", "approved", object{"taskId": id, "contextId": "other"})); code(r) != -32602.0 {
		t.Errorf("another context: %s", r.raw)
	}
	r = a.rpc("SendMessage", said("m-3", "approved", object{"taskId": id}), "X-User: ann")
	if state(r) != "TASK_STATE_COMPLETED" {
		t.Fatal(r.raw)
	}
	if d := s.decided[approvalUUID]; !d.Approved || d.Via != "a2a" || d.By != "ann" {
		t.Errorf("decided by %+v", d)
	}
	if again := a.rpc("SendMessage", said("m-3", "approved", object{"taskId": id})); state(again) != "TASK_STATE_COMPLETED" {
		t.Errorf("sent again: %s", again.raw)
	}
}

func TestARejectedTaskIsRejected(t *testing.T) {
	s, a, id := waiting(t)
	answer := object{"type": contract.TypeApprovalAnswer, "uuid": approvalUUID, "approved": false, "by": "ann", "reason": "no"}
	message := object{"messageId": "m-2", "role": "ROLE_USER", "taskId": id, "parts": []any{object{"data": answer}}}
	message["metadata"] = object{contract.MetaChain: "front"}
	if r := a.rpc("SendMessage", object{"message": message}); code(r) != -32602.0 || len(s.decided) > 0 {
		t.Errorf("a chain that is none: %s", r.raw)
	}
	message["metadata"] = object{contract.MetaChain: []string{"front", "middle"}}
	r := a.rpc("SendMessage", object{"message": message})
	d := s.decided[approvalUUID]
	if state(r) != "TASK_STATE_REJECTED" || d.Reason != "no" || d.By != "ann" || d.Via != "a2a" || !slices.Equal(d.Chain, []string{"front", "middle"}) {
		t.Errorf("decided by %+v: %s", d, r.raw)
	}
}

func TestTheMetadataOfADecisionNamesWhoDecided(t *testing.T) {
	s, a, id := waiting(t)
	message := object{"messageId": "m-2", "role": "ROLE_USER", "taskId": id, "parts": []any{object{"text": "rejected"}}}
	message["metadata"] = object{contract.MetaBy: "alice"}
	r := a.rpc("SendMessage", object{"message": message}, "X-User: front")
	if d := s.decided[approvalUUID]; state(r) != "TASK_STATE_REJECTED" || d.By != "alice" {
		t.Errorf("decided by %+v: %s", d, r.raw)
	}
}

func TestALateDecisionIsReported(t *testing.T) {
	s, a, id := waiting(t)
	before := s.view
	s.decided[approvalUUID] = contract.DecideSignal{Approved: true, By: "bob", RequestID: "other"}
	s.view = before
	r := a.rpc("SendMessage", said("m-2", "rejected", object{"taskId": id}))
	if code(r) != -32004.0 || !strings.Contains(r.raw, "already approved") {
		t.Error(r.raw)
	}
}

// The first decision of a message has been sent when a later one fails: its caller must know.
func TestALateDecisionDoesNotHideTheOnesBeforeIt(t *testing.T) {
	s, a, id := waiting(t)
	second := s.view.Pending[0]
	second.UUID = otherID
	s.view.Pending = append(s.view.Pending, second)
	s.onDecide = func(string, contract.DecideSignal) {}
	s.decided[otherID] = contract.DecideSignal{Approved: true, By: "bob", RequestID: "other"}
	answer := func(uuid string, approved bool) object {
		return object{"data": object{"type": contract.TypeApprovalAnswer, "uuid": uuid, "approved": approved}}
	}
	r := a.rpc("SendMessage", said("m-2", "", object{"taskId": id, "parts": []any{answer(approvalUUID, true), answer(otherID, false)}}))
	if code(r) != -32000.0 || !strings.Contains(r.raw, "already approved") || !strings.Contains(r.raw, "the decisions before it were sent: "+approvalUUID) {
		t.Error(r.raw)
	}
	if !s.decided[approvalUUID].Approved {
		t.Error("the first decision was not sent")
	}
}

// soon makes followers read often, for tests without a feed.
func soon(d *gateway.Deps) { d.Pace.Running = 10 * time.Millisecond }

// Another caller has decided the same. The task then works on for a while, and the
// conversation does not know the message.
func TestALateDecisionMayAgree(t *testing.T) {
	for _, method := range []string{"SendMessage", "SendStreamingMessage"} {
		synctest.Test(t, func(t *testing.T) {
			s, a, id := waiting(t, soon)
			defer a.Close()
			s.decided[approvalUUID] = contract.DecideSignal{Approved: true, By: "bob", RequestID: "other"}
			time.AfterFunc(20*time.Millisecond, func() {
				s.write(func(v *contract.ConversationView) {
					v.Pending, v.Status, v.Running = nil, contract.StatusActive, true
				})
				time.AfterFunc(20*time.Millisecond, func() {
					s.do(func() { s.end("other", "dropped", contract.OutcomeDone) })
				})
			})
			r := a.rpc(method, said("m-2", "approved", object{"taskId": id}))
			if code(r) != nil || !strings.Contains(r.raw, "TASK_STATE_COMPLETED") || !strings.Contains(r.raw, "dropped") {
				t.Errorf("%s: %s", method, r.raw)
			}
		})
	}
}

func TestAnAnswerThatWasSentBeforeDecidesNothing(t *testing.T) {
	s, a, id := waiting(t)
	s.onDecide = func(_ string, in contract.DecideSignal) { // the next call waits
		s.view.Pending = nil
		s.wait(contract.MessageSignal{RequestID: in.RequestID}, otherID)
	}
	for n, want := range []string{"Approval required", "was sent before"} {
		r := a.rpc("SendMessage", said("m-2", "approved", object{"taskId": id}))
		if state(r) != "TASK_STATE_INPUT_REQUIRED" || !strings.Contains(r.raw, want) || len(s.decided) != 1 {
			t.Errorf("%d: %d decisions, %s", n, len(s.decided), r.raw)
		}
	}
}

func TestAnA2ADecisionIsReportedDespiteAFailedRead(t *testing.T) {
	gone := service.Errorf(service.KindUnavailable, "too many updates")
	for says, fail := range map[string]func(*fakeBackend){
		"the decision was taken": func(b *fakeBackend) {
			b.AwaitFn = func(context.Context, string, []string) (contract.AwaitResult, error) {
				return contract.AwaitResult{}, gone
			}
		},
		"the decision was sent": func(b *fakeBackend) {
			b.DecisionFn = func(context.Context, string) (contract.ApprovalResult, error) { return contract.ApprovalResult{}, gone }
		},
	} {
		for _, method := range []string{"SendMessage", "SendStreamingMessage"} {
			s := taskScript()
			s.onDecide = func(string, contract.DecideSignal) {} // no result yet
			b := s.backend()
			a := newAPI(t, b)
			id := a.rpc("SendMessage", said("m-1", "drop it", nil)).text("result", "task", "id")
			decide := b.DecideFn
			b.DecideFn = func(uuid string, in contract.DecideSignal) error {
				fail(b)
				return decide(uuid, in)
			}
			r := a.rpc(method, said("m-2", "", object{"taskId": id, "parts": []any{object{"text": "approved"}}}))
			if !strings.Contains(r.raw, `"error"`) || !strings.Contains(r.raw, says) || !strings.Contains(r.raw, "too many updates") {
				t.Errorf("%s: %s: %s", method, says, r.raw)
			}
		}
	}
}

// Changes that come with an answer are not lost: without them something else would run.
func TestAnA2AAnswerWithChanges(t *testing.T) {
	s, a, id := waiting(t)
	answer := object{"type": contract.TypeApprovalAnswer, "uuid": approvalUUID, "approved": true, "edit": object{"amount": 400}}
	a.rpc("SendMessage", object{"message": object{"messageId": "m-2", "role": "ROLE_USER", "taskId": id, "parts": []any{object{"data": answer}}}})
	if d := s.decided[approvalUUID]; string(d.Edit) != `{"amount":400}` || !d.Approved {
		t.Errorf("decided by %+v", d)
	}
}
