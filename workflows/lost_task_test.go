package workflows_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// failedPolls are polls that do not return a task's state.
var failedPolls = map[string]struct {
	now    contract.DelegateResult
	broken error
	after  time.Duration
	why    string
}{
	"rubbish":     {broken: fails(contract.KindPeerFailed, "the answer is no JSON"), why: "the answer is no JSON"},
	"no entry":    {now: contract.DelegateResult{State: contract.TaskAuthRequired, TaskID: "task-1", NoEntry: true, Text: contract.Inline("Who?")}, why: "Authentication required by A2A agent writer"},
	"not reached": {broken: unreachableError(), after: 2 * time.Hour, why: "connection refused"},
}

// countStarts counts the messages that start tasks.
func countStarts(w *world) (n int) {
	for _, in := range sentMessages(w) {
		if in.TaskID == "" {
			n++
		}
	}
	return n
}

// A task that has begun may have been done: a person is asked if its agent does not report its
// state any more.
func TestADestructiveTaskThatIsLostAsksAHuman(t *testing.T) {
	for name, tt := range failedPolls {
		for answer, want := range map[string]struct {
			decision contract.DecideSignal
			text     string
			sent     int
		}{
			"ran":   {contract.DecideSignal{Approved: true, Content: contract.JSON{Raw: json.RawMessage(`{"outcome":"ran","result":"wiped"}`)}}, "A person says that it did run and returned:\n\nwiped", 1},
			"again": {contract.DecideSignal{Approved: true}, "wiped anew", 2},
			"no":    {contract.DecideSignal{Reason: "leave it"}, "Outcome unknown: the call was sent and its answer was lost (" + tt.why, 1},
		} {
			t.Run(name+", "+answer, func(t *testing.T) {
				peer := &writer{started: atWork(), now: tt.now, pollError: tt.broken}
				w := &world{DelegateFn: peer.delegate}
				converse(t, w, tree(wipeNode()), func(s *session) {
					s.rest()
					s.approve()
					s.sleep(tt.after)
					s.rest()
					p := s.pending()
					same(t, "reason", p.Reason, contract.ReasonUnknownOutcome)
					same(t, "tells why", strings.Contains(p.Description, tt.why), true)
					same(t, "begun", countStarts(w), 1)
					peer.started = remote(contract.TaskCompleted, "wiped anew")
					want.decision.RequestID = "d2"
					s.decide(want.decision)
					s.rest()
					same(t, "answer "+s.answer("d2"), strings.Contains(s.answer("d2"), want.text), true)
					s.nothingWaits()
				})
				same(t, "begun in the end", countStarts(w), want.sent)
			})
		}
	}
}

// A task is also destructive if a person here has approved a request of its agent.
func TestATaskThatIsLostAfterAnApprovalAsksAHuman(t *testing.T) {
	for name, tt := range failedPolls {
		t.Run(name, func(t *testing.T) {
			peer := &writer{started: waitingTask("u1", "Delete it?"), now: waitingTask("u1", "Delete it?"), answered: atWork()}
			w := &world{}
			w.DelegateFn = func(ctx context.Context, in contract.DelegateInput) (contract.DelegateResult, error) {
				out, err := peer.delegate(ctx, in)
				if in.Decision == contract.Approved {
					peer.now, peer.pollError = tt.now, tt.broken
				}
				return out, err
			}
			converse(t, w, tree(ask("clean up")), func(s *session) {
				s.rest()
				s.approve()
				s.sleep(tt.after)
				s.rest()
				p := s.pending()
				same(t, "reason", p.Reason, contract.ReasonUnknownOutcome)
				peer.now, peer.pollError = waitingTask("u1", "Delete it?"), nil
				s.decide(contract.DecideSignal{Approved: true, RequestID: "d2"})
				s.rest()
				same(t, "asks as at first", s.pending().Reason, contract.ReasonRemote)
			})
			same(t, "begun", countStarts(w), 2)
		})
	}
}

// An agent that cannot be reached has not received the approval. What its destructive task did
// before is unknown.
func TestATaskThatCannotBeAnsweredAsksAHumanWhereItMayHaveDoneSomething(t *testing.T) {
	for name, n := range map[string]contract.Node{"destructive": wipeNode(), "not destructive": ask("clean up")} {
		t.Run(name, func(t *testing.T) {
			shut := contract.DelegateResult{State: contract.TaskAuthRequired, TaskID: "task-1", NoEntry: true, Text: contract.Inline("Who?")}
			peer := &writer{started: waitingTask("u1", "Delete it?"), now: waitingTask("u1", "Delete it?"), answered: shut}
			w := &world{DelegateFn: peer.delegate}
			converse(t, w, tree(n), func(s *session) {
				s.rest()
				if n.Peer.Destructive {
					s.approve()
					s.rest()
				}
				s.approve()
				s.rest()
				if n.Peer.Destructive {
					same(t, "reason", s.pending().Reason, contract.ReasonUnknownOutcome)
					return
				}
				s.nothingWaits()
				same(t, "auth required", s.view().Last.AuthRequired, "writer")
			})
		})
	}
}

func TestALostTaskOfATurnThatIsCancelledIsWithdrawn(t *testing.T) {
	peer := &writer{started: atWork(), pollError: failedPolls["rubbish"].broken}
	w := &world{DelegateFn: peer.delegate}
	converse(t, w, tree(wipeNode()), func(s *session) {
		s.rest()
		s.approve()
		s.rest()
		same(t, "reason", s.pending().Reason, contract.ReasonUnknownOutcome)
		s.cancel("c1", "enough")
		s.rest()
		s.nothingWaits()
	})
	sent := sentTo(w)
	same(t, "last", sent[len(sent)-1], "cancel task-1")
}
