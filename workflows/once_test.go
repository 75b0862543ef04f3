package workflows_test

import (
	"context"
	"strings"
	"testing"

	"agent-stop-and-go/workflows/contract"
)

// wipeNode returns a node with a destructive delegation.
func wipeNode() contract.Node {
	n := ask("wipe")
	destructive(&n)
	return n
}

// A run that was reset must derive the same claims: they must not depend on message IDs, and
// must differ between tasks and questions.
func TestAnswersAreClaimedByWhatTheyAnswer(t *testing.T) {
	claims := map[string]bool{}
	for _, task := range []string{"task-1", "task-2"} {
		begun, then := waitingTask("u1", "Delete it?"), waitingTask("u2", "Delete that, too?")
		begun.TaskID, then.TaskID = task, task
		peer := &writer{started: begun, now: begun, answered: then}
		w := &world{DelegateFn: peer.delegate}
		converse(t, w, tree(ask("clean up")), func(s *session) {
			s.rest()
			s.approve()
			s.rest()
			peer.answered = remote(contract.TaskCompleted, "deleted")
			s.approve()
			s.rest()
		})
		for _, in := range sentMessages(w) {
			if in.Decision != "" {
				claims[in.Claim] = true
			}
		}
	}
	same(t, "claims", len(claims), 4)
}

// unknownOutcomeAgent is an agent whose outcome is unknown the given number of times.
func unknownOutcomeAgent(times int, err error, begun, answered contract.DelegateResult) func(context.Context, contract.DelegateInput) (contract.DelegateResult, error) {
	peer := &writer{started: begun, now: begun, answered: answered}
	return func(ctx context.Context, in contract.DelegateInput) (contract.DelegateResult, error) {
		if in.Destructive && times > 0 {
			times--
			return contract.DelegateResult{}, err
		}
		return peer.delegate(ctx, in)
	}
}

var unknown = map[string]error{
	"unknown":   fails(contract.KindOutcomeUnknown, "the connection broke"),
	"too large": fails("payloadSizeError", "the result is larger than 2 MiB"),
}

func TestADestructiveDelegationInDoubtAsksAHumanWhoMayHaveItSentAgain(t *testing.T) {
	for name, err := range unknown {
		t.Run(name, func(t *testing.T) {
			w := &world{DelegateFn: unknownOutcomeAgent(1, err, remote(contract.TaskCompleted, "wiped"), contract.DelegateResult{})}
			converse(t, w, tree(wipeNode()), func(s *session) {
				s.rest()
				s.approve()
				s.rest()
				p := s.pending()
				same(t, "reason", p.Reason, contract.ReasonUnknownOutcome)
				same(t, "asks", strings.HasPrefix(p.Description, "**OUTCOME UNKNOWN: a2a_writer**"), true)
				same(t, "sent", len(sentMessages(w)), 1)
				s.decide(contract.DecideSignal{Approved: true, RequestID: "d2"})
				s.rest()
				same(t, "answer", s.answer("d2"), "wiped")
			})
			sent := sentMessages(w)
			same(t, "sent", len(sent), 2)
			same(t, "the second", sent[1].MessageID, sent[0].MessageID)
		})
	}
}

func TestADestructiveDelegationInDoubtThatIsNotSentAgainStaysUnknown(t *testing.T) {
	w := &world{DelegateFn: unknownOutcomeAgent(1, unknown["unknown"], remote(contract.TaskCompleted, "wiped"), contract.DelegateResult{})}
	converse(t, w, tree(wipeNode()), func(s *session) {
		s.rest()
		s.approve()
		s.rest()
		s.decide(contract.DecideSignal{RequestID: "d2"})
		s.rest()
		same(t, "answer", s.answer("d2"), "Outcome unknown: the call was sent and its answer was lost (the connection broke). It was not repeated.")
	})
	same(t, "sent", len(sentMessages(w)), 1)
}

func TestAnApprovalThatAnotherAgentMayHaveHeardOfIsNotToldTwiceByItself(t *testing.T) {
	w := &world{DelegateFn: unknownOutcomeAgent(1, unknown["unknown"], waitingTask("u1", "Delete it?"), remote(contract.TaskCompleted, "deleted"))}
	converse(t, w, tree(ask("clean up")), func(s *session) {
		s.rest()
		s.approve()
		s.rest()
		p := s.pending()
		same(t, "reason", p.Reason, contract.ReasonUnknownOutcome)
		for _, want := range []string{"**OUTCOME UNKNOWN: approval told to A2A agent writer**", "Delete it?", "Tool: files_delete"} {
			same(t, want, strings.Contains(p.Description, want), true)
		}
		s.decide(contract.DecideSignal{Approved: true, RequestID: "d2"})
		s.rest()
		same(t, "answer", s.answer("d2"), "deleted")
	})
	sent := sentMessages(w)
	same(t, "sent", len(sent), 3)
	same(t, "the second answer", sent[2].MessageID, sent[1].MessageID)
}

func TestADelegationThatIsNotDestructiveIsTriedThreeTimes(t *testing.T) {
	w := &world{DelegateFn: func(context.Context, contract.DelegateInput) (contract.DelegateResult, error) {
		return contract.DelegateResult{}, unreachableError()
	}}
	converse(t, w, tree(ask("write")), func(s *session) {
		s.rest()
		s.nothingWaits()
	})
	same(t, "sent", len(sentMessages(w)), 3)
}
