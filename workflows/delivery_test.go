package workflows_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/workflows/contract"
)

func TestTheOtherAgentHearsOfARejectionHoweverLongItIsAway(t *testing.T) {
	peer := &writer{started: waitingTask("u1", "Sure?"), now: waitingTask("u1", "Sure?"), refusalError: unreachableError()}
	w := &world{GenerateFn: play(nil), DelegateFn: peer.delegate}
	in := tree(sequenceWith(ask("clean up")))
	in.First.Credential = askersToken
	s := converse(t, w, in, func(s *session) {
		s.rest()
		s.decide(contract.DecideSignal{RequestID: "d1", Reason: "not today"})
		s.rest()
		same(t, "answer", s.answer("d1"), "Operation cancelled by user. Reason: not today\n\nDone: find.\n\nNot done: ask (rejected), tell (skipped).")
		same(t, "note", s.note(), "The agent writer could not be told yet; it is tried again until it hears of it (workflow "+s.seen.delivered[0].ID+").")
		s.sleep(48 * time.Hour)
		peer.refusalError = nil
		s.sleep(time.Hour)
	})
	same(t, "deliveries", len(s.seen.delivered), 1)
	d := s.seen.delivered[0]
	same(t, "workflow", d.ID, "delivery-"+d.Input.MessageID)
	same(t, "outlives the turn", d.Abandoned, true)
	same(t, "tells", d.Input.Decision, contract.Rejected)
	same(t, "why", d.Input.Reason, "not today")
	same(t, "asked", d.Input.Asked.UUID, "u1")
	same(t, "task", d.Input.TaskID, "task-1")
	sent := slices.DeleteFunc(sentMessages(w), func(in contract.DelegateInput) bool { return in.Decision == "" })
	if n := len(sent); n < 250 || n > 350 {
		t.Errorf("told %d times in two days", n)
	}
	same(t, "the same message", sent[len(sent)-1], sent[1])
	for _, l := range read(w, &w.log) {
		if strings.HasPrefix(l, "regular delegate") {
			same(t, "the token", l, "regular delegate "+askersToken)
		}
	}
}

func TestTheOtherAgentHearsOfACancellationHoweverLongItIsAway(t *testing.T) {
	peer := &writer{started: atWork(), now: atWork(), refusalError: unreachableError()}
	w := &world{GenerateFn: play(nil), DelegateFn: peer.delegate}
	s := converse(t, w, tree(ask("write")), func(s *session) {
		s.rest()
		s.cancel("c1", "")
		s.rest()
		same(t, "answer", s.answer("c1"), "The turn was cancelled.")
		same(t, "note", s.note(), "The agent writer could not be told yet; it is tried again until it hears of it (workflow "+s.seen.delivered[0].ID+").")
		peer.refusalError = nil
	})
	same(t, "tells", s.seen.delivered[0].Input.Cancel, true)
	same(t, "summary", s.seen.delivered[0].Summary, "tell writer: cancel the task")
}

func delivered(t *testing.T, in contract.DelegateInput, answer func(context.Context, contract.DelegateInput) (contract.DelegateResult, error)) (contract.DeliveryResult, error) {
	t.Helper()
	s := newSession(t, &world{DelegateFn: answer}, contract.DeliveryWorkflowID(in.MessageID))
	s.env.ExecuteWorkflow(contract.WorkflowDelivery, in)
	var r contract.DeliveryResult
	if err := s.env.GetWorkflowError(); err != nil {
		return r, err
	}
	return r, s.env.GetWorkflowResult(&r)
}

func TestADeliveryEndsWhenTheAgentHasHeard(t *testing.T) {
	away := 200
	in := contract.DelegateInput{MessageID: "m1", TaskID: "task-1", Cancel: true, Peer: contract.Peer{Name: "writer"}}
	for name, tt := range map[string]struct {
		answer func() (contract.DelegateResult, error)
		want   contract.DeliveryResult
	}{
		"after a day": {func() (contract.DelegateResult, error) {
			if away--; away > 0 {
				return contract.DelegateResult{}, unreachableError()
			}
			return remote(contract.TaskCanceled, "stopped"), nil
		}, contract.DeliveryResult{State: contract.TaskCanceled}},
		"by a refusal": {func() (contract.DelegateResult, error) {
			return contract.DelegateResult{}, fails(contract.KindPeerFailed, "no such task")
		}, contract.DeliveryResult{Problem: "The agent writer could not be told: A2A error: no such task"}},
		"after 30 days": {func() (contract.DelegateResult, error) { return contract.DelegateResult{}, unreachableError() },
			contract.DeliveryResult{Problem: "The agent writer could not be told within 30 days: A2A error: connection refused"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := delivered(t, in, func(context.Context, contract.DelegateInput) (contract.DelegateResult, error) { return tt.answer() })
			if err != nil {
				t.Fatal(err)
			}
			same(t, "result", got, tt.want)
		})
	}
}

func TestADeliveryMayBeCancelled(t *testing.T) {
	s := newSession(t, &world{DelegateFn: func(context.Context, contract.DelegateInput) (contract.DelegateResult, error) {
		return contract.DelegateResult{}, unreachableError()
	}}, "delivery-m1")
	s.run(contract.WorkflowDelivery, contract.DelegateInput{MessageID: "m1", TaskID: "task-1", Cancel: true}, func(s *session) { s.sleep(time.Hour) }, s.env.CancelWorkflow)
	if err := s.env.GetWorkflowError(); !temporal.IsCanceledError(err) {
		t.Errorf("it ended with %v", err)
	}
}
