package workflows_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/audit"
	"agent-stop-and-go/workflows/contract/switches"
)

// breaker is the switch of a test. It pauses calls as the activities do, and is the Control that
// approvals register with.
type breaker struct {
	on    bool
	gone  bool // there is no Control
	waits []switches.Wait
}

// put lets the breaker pause the calls of a world.
func (b *breaker) put(w *world) {
	call, delegate := w.CallToolFn, w.DelegateFn
	w.CallToolFn = func(ctx context.Context, in contract.CallToolInput) (contract.CallToolResult, error) {
		switch {
		case b.on && in.Destructive:
			return contract.CallToolResult{}, fails(contract.KindPaused, "destructive calls are paused for everything by ops")
		case call != nil:
			return call(ctx, in)
		}
		return returns(in.Tool + " done"), nil
	}
	w.DelegateFn = func(ctx context.Context, in contract.DelegateInput) (contract.DelegateResult, error) {
		if b.on && in.Destructive && in.Decision != contract.Rejected {
			return contract.DelegateResult{}, fails(contract.KindPaused, "destructive calls are paused for everything by ops")
		}
		return delegate(ctx, in)
	}
}

// hear takes the registrations of approvals.
func (b *breaker) hear(s *session) {
	s.seen.SignalFn = func(_, _ string, arg any) error {
		if w, ok := arg.(switches.Wait); ok && !b.gone {
			b.waits = append(b.waits, w)
			return nil
		}
		return errors.New("there is no Control")
	}
}

// resume releases a paused call.
func (b *breaker) resume(s *session) {
	s.t.Helper()
	b.on = false
	uuid := s.pending().UUID
	if err := s.env.SignalWorkflowByID(contract.ApprovalWorkflowID(uuid), switches.SignalGo, switches.Release{By: "ops"}); err != nil {
		s.t.Fatal(err)
	}
	s.rest()
}

func TestAPausedCallWaitsAndGoesOnWithItsGrant(t *testing.T) {
	w, b := &world{GenerateFn: script(asks(add("x")), says("Added."))}, &breaker{on: true}
	b.put(w)
	s := converse(t, w, hello(), func(s *session) {
		b.hear(s)
		s.rest()
		s.decide(contract.DecideSignal{Approved: true, RequestID: "d1"})
		s.rest()
		p := s.pending()
		same(t, "reason", p.Reason, contract.ReasonPaused)
		for _, want := range []string{"**PAUSED: resources_add**", "Name: x", "paused for everything by ops", "Nobody can approve it"} {
			if !strings.Contains(p.Description, want) {
				t.Errorf("%q is not in\n%s", want, p.Description)
			}
		}
		same(t, "registered", b.waits, []switches.Wait{{Approval: p.UUID, Call: switches.Call{Agent: "tester", Server: "resources", Tool: "resources_add"}}})
		s.approve() // is no resume
		s.rest()
		same(t, "waits", s.pending().UUID, p.UUID)
		if v := s.approval(p.UUID); !strings.Contains(v.Problem, "is paused") {
			t.Errorf("problem %q", v.Problem)
		}
		b.resume(s)
		same(t, "record", s.approval(p.UUID).Result.By, "ops")
	})
	calls := read(w, &w.calls)
	same(t, "attempts", len(calls), 2)
	same(t, "key", calls[0].IdempotencyKey, calls[1].IdempotencyKey)
	same(t, "claim", calls[0].Claim, calls[1].Claim)
	same(t, "agent", calls[1].Agent, "tester")
	for _, want := range []string{"[PAUSE]: Resumed", "Added."} {
		if lines := strings.Join(s.lines(), "\n"); !strings.Contains(lines, want) {
			t.Errorf("%q is not in\n%s", want, lines)
		}
	}
}

func TestAPausedCallIsRejected(t *testing.T) {
	w, b := &world{GenerateFn: script(asks(add("x")), says("Without it."))}, &breaker{on: true}
	b.put(w)
	converse(t, w, hello(), func(s *session) {
		b.hear(s)
		s.rest()
		s.approve()
		s.rest()
		s.decide(contract.DecideSignal{RequestID: "d2", Reason: "too late"})
		s.rest()
		same(t, "answer", s.answer("d2"), "Without it.")
		all := s.lines()
		same(t, "result", all[len(all)-2], "failed resources_add: Tool execution failed: destructive calls are paused for everything by ops. Reason: too late")
	})
	same(t, "attempts", len(w.ran()), 1)
}

func TestAPausedCallGoesOnWithoutAControl(t *testing.T) {
	w, b := &world{GenerateFn: script(asks(add("x")), says("Added."))}, &breaker{on: true, gone: true}
	b.put(w)
	converse(t, w, hello(), func(s *session) {
		b.hear(s)
		s.rest()
		s.decide(contract.DecideSignal{Approved: true, RequestID: "d1"})
		s.sleep(time.Millisecond)
		b.on = false
		s.rest()
		s.nothingWaits()
	})
	same(t, "attempts", len(w.ran()) > 1, true)
}

func TestAPausedCallRegistersAgain(t *testing.T) {
	w, b := &world{GenerateFn: script(asks(add("x")), says("Added."))}, &breaker{on: true}
	b.put(w)
	converse(t, w, hello(), func(s *session) {
		b.hear(s)
		s.rest()
		s.approve()
		s.rest()
		s.sleep(4 * time.Hour)
		same(t, "registrations", len(b.waits), 3)
		b.resume(s)
		s.nothingWaits()
	})
}

func TestATurnIsCancelledWhileACallIsPaused(t *testing.T) {
	w, b := &world{GenerateFn: script(asks(add("x")))}, &breaker{on: true}
	b.put(w)
	converse(t, w, hello(), func(s *session) {
		b.hear(s)
		s.rest()
		s.approve()
		s.rest()
		s.cancel("c1", "")
		s.rest()
		s.nothingWaits()
		same(t, "settled", s.request("c1").Settled, true)
	})
	same(t, "attempts", len(w.ran()), 1)
}

func TestAPausedDelegationWaits(t *testing.T) {
	root := ask("clean up")
	root.Peer.Destructive = true
	w, b := &world{DelegateFn: answers(remote(contract.TaskInputRequired, "Delete it?"), remote(contract.TaskCompleted, "deleted"))}, &breaker{on: true}
	b.put(w)
	converse(t, w, tree(root), func(s *session) {
		b.hear(s)
		s.rest()
		s.approve()
		s.rest()
		p := s.pending()
		same(t, "reason", p.Reason, contract.ReasonPaused)
		same(t, "registered", b.waits[0].Call, switches.Call{Agent: "tester", Peer: "writer", Tool: "a2a_writer"})
		b.resume(s)
		same(t, "asks", s.pending().Reason, contract.ReasonRemote)
		b.on = true
		s.approve() // which lets the other agent act
		s.rest()
		same(t, "reason", s.pending().Reason, contract.ReasonPaused)
		b.resume(s)
		s.nothingWaits()
	})
	same(t, "messages", len(sentMessages(w)), 4)
}

// A call of which nobody knew that it is recorded waits for the audit log too, and is not tried again
// meanwhile.
func TestACallThatCannotBeRecordedWaitsForTheLog(t *testing.T) {
	w, b := &world{GenerateFn: script(asks(add("x")), says("Added."))}, &breaker{gone: true}
	unwritten := true
	w.CallToolFn = func(context.Context, contract.CallToolInput) (contract.CallToolResult, error) {
		if unwritten {
			return contract.CallToolResult{}, temporal.NewApplicationErrorWithOptions("it cannot be recorded yet", string(contract.KindPaused),
				temporal.ApplicationErrorOptions{NonRetryable: true, Details: []any{audit.Hold{Unrecorded: true}}})
		}
		return returns("done"), nil
	}
	converse(t, w, hello(), func(s *session) {
		b.hear(s)
		s.env.RegisterActivityWithOptions(func(ctx context.Context, in audit.Record) (audit.Receipt, error) {
			if in.Result != nil {
				return audit.Receipt{}, nil
			}
			w.note(ctx, "record", func() {})
			return audit.Receipt{}, held
		}, activity.RegisterOptions{Name: audit.ActivityRecord.Name})
		s.rest()
		s.approve()
		s.rest()
		s.sleep(time.Hour)
		same(t, "reason", s.pending().Reason, contract.ReasonPaused)
		same(t, "attempts", len(w.ran()), 1)
		unwritten = false
		uuid := s.pending().UUID
		s.release("record", audit.Receipt{}, nil)
		if err := s.env.SignalWorkflowByID(contract.ApprovalWorkflowID(uuid), "nudge", nil); err != nil { // wakes it, as release does others
			t.Error(err)
		}
		s.sleep(time.Minute)
		s.nothingWaits()
	})
	same(t, "attempts", len(w.ran()), 2)
}

// The name of a node is no agent's: a switch for an agent of that name does not hold its calls,
// and one for the agent itself holds those of every node.
func TestACallOfANodeIsTheAgents(t *testing.T) {
	var sent contract.CallToolInput
	w, b := &world{GenerateFn: script(asks(add("x")), says("Added."))}, &breaker{on: true}
	b.put(w)
	call := w.CallToolFn
	w.CallToolFn = func(ctx context.Context, in contract.CallToolInput) (contract.CallToolResult, error) {
		sent = in
		return call(ctx, in)
	}
	converse(t, w, tree(sequential("billing", llm("shop"))), func(s *session) {
		b.hear(s)
		s.rest()
		s.approve()
		s.rest()
		same(t, "reason", s.pending().Reason, contract.ReasonPaused)
		held := b.waits[0].Call
		same(t, "registered", held, switches.Call{Agent: "tester", Server: "resources", Tool: "resources_add"})
		same(t, "called", sent.Agent, held.Agent)
		for target, want := range map[switches.Target]bool{"agent:tester": true, "agent:shop": false, "agent:billing": false} {
			same(t, string(target), target.Holds(held), want)
		}
		b.resume(s)
		s.nothingWaits()
	})
}
