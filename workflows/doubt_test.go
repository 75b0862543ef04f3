package workflows_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// loseFirstAnswer makes the first answer of the tool get lost.
func loseFirstAnswer(w *world) {
	first := true
	w.CallToolFn = func(context.Context, contract.CallToolInput) (contract.CallToolResult, error) {
		if first {
			first = false
			return contract.CallToolResult{}, timedOut()
		}
		return returns("added"), nil
	}
}

// A person's answer about a call whose own answer was lost determines its result, which the
// model gets.
func TestTheThreeAnswersToAnUnknownOutcome(t *testing.T) {
	for name, tt := range map[string]struct {
		said   any
		ran    int
		result string
		mark   string
		note   string
	}{
		"it ran": {typed(`{"answer":"ran","by":"alice"}`), 1,
			"result resources_add: The call was made and its answer was lost (no answer in time). alice says that it did run; what it returned is not known.",
			"[APPROVAL]: Not needed, it did run", ""},
		"it ran and returned": {typed(`{"content":{"outcome":"ran","result":"id 17"},"by":"alice"}`), 1,
			"result resources_add: The call was made and its answer was lost (no answer in time). alice says that it did run and returned:\n\nid 17",
			"[APPROVAL]: Not needed, it did run", ""},
		"run it now": {typed(`{"approved":true,"by":"alice"}`), 2, "result resources_add: added", "[APPROVAL]: Approved",
			"The answer to a call before this one was lost, and alice had it made again."},
		"it did not run, run it": {typed(`"not_run"`), 2, "result resources_add: added", "[APPROVAL]: Approved",
			"The answer to a call before this one was lost, and a person had it made again."},
		"stop": {typed(`{"approved":false,"by":"alice","reason":"the ledger is closed"}`), 1,
			"failed resources_add: Outcome unknown: the call was sent and its answer was lost (no answer in time). It was not repeated. Reason (alice): the ledger is closed",
			"[APPROVAL]: Rejected", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{GenerateFn: script(asks(add("x")), says("I see."))}
			loseFirstAnswer(w)
			converse(t, w, hello(), func(s *session) {
				s.rest()
				s.approve()
				s.rest()
				p := s.pending()
				same(t, "schema", string(p.Schema.Raw), contract.UnknownOutcomeSchema)
				same(t, "says how", strings.Contains(p.Description, `answer "ran"`), true)
				shown := s.details(contract.ApprovalWorkflowID(p.UUID))
				same(t, "a command for it", strings.Contains(shown, `"outcome":"ran"`), true)
				s.decide(typed(`"perhaps"`))
				s.rest()
				same(t, "not understood", s.approval(p.UUID).Problem != "", true)
				s.decide(tt.said)
				s.rest()
				end := s.lines()
				same(t, "end of the transcript", end[len(end)-2:], []string{tt.result, "assistant: I see."})
				same(t, "ran", len(w.ran()), tt.ran)
				same(t, "note", s.note(), tt.note)
				for _, m := range s.messages() {
					if m.Approval != nil && m.Approval.UUID == p.UUID {
						same(t, "mark", m.Content.Inline, tt.mark)
						same(t, "outcome", m.Approval.Outcome == contract.OutcomeRan, tt.ran == 1 && name != "stop")
					}
				}
			})
		})
	}
}

func TestADelegationInDoubtThatDidRunIsNotSentAgain(t *testing.T) {
	w := &world{DelegateFn: unknownOutcomeAgent(1, unknown["unknown"], remote(contract.TaskCompleted, "wiped"), contract.DelegateResult{})}
	converse(t, w, tree(wipeNode()), func(s *session) {
		s.rest()
		s.approve()
		s.rest()
		s.decide(typed(`{"content":{"outcome":"ran","result":"all gone"},"request_id":"d2","by":"alice"}`))
		s.rest()
		same(t, "answer", s.answer("d2"), "The call was made and its answer was lost (the connection broke). alice says that it did run and returned:\n\nall gone")
	})
	same(t, "sent", len(sentMessages(w)), 1)
}

func TestAnApprovalThatAnotherAgentHasHeardOfIsFollowed(t *testing.T) {
	peer := &writer{started: waitingTask("u1", "Delete it?"), now: waitingTask("u1", "Delete it?")}
	w := &world{DelegateFn: func(ctx context.Context, in contract.DelegateInput) (contract.DelegateResult, error) {
		if in.Decision == contract.Approved {
			peer.now = remote(contract.TaskCompleted, "deleted")
			return contract.DelegateResult{}, unknown["unknown"]
		}
		return peer.delegate(ctx, in)
	}}
	converse(t, w, tree(ask("clean up")), func(s *session) {
		s.rest()
		s.approve()
		s.rest()
		same(t, "reason", s.pending().Reason, contract.ReasonUnknownOutcome)
		s.decide(typed(`{"answer":"ran","request_id":"d2"}`))
		s.rest()
		same(t, "answer", s.answer("d2"), "deleted")
	})
	same(t, "told once", sentTo(w), []string{`{"message":"clean up"}`, "approved for task-1"})
}

// An agent may ask again while it still carries out an approval. The description must say so.
func TestAQuestionThatWasApprovedBeforeSaysSo(t *testing.T) {
	for name, answered := range map[string]error{
		"after an answer":           nil,
		"after an outcome that ran": fails(contract.KindOutcomeUnknown, "the answer was lost"),
	} {
		t.Run(name, func(t *testing.T) {
			question, approvals := waitingTask("u1", "Delete it?"), 0
			w := &world{DelegateFn: func(_ context.Context, in contract.DelegateInput) (contract.DelegateResult, error) {
				if in.Decision == contract.Approved {
					approvals++
				}
				switch {
				case approvals == 2:
					return remote(contract.TaskCompleted, "deleted"), nil
				case in.Decision == contract.Approved:
					return question, answered
				}
				return question, nil
			}}
			converse(t, w, tree(ask("clean up")), func(s *session) {
				s.rest()
				same(t, "at first", strings.HasPrefix(s.pending().Description, "**PROXY APPROVAL"), true)
				s.approve()
				s.rest()
				if answered != nil {
					s.decide(typed(`{"answer":"ran"}`))
					s.rest()
				}
				p := s.pending()
				same(t, "asks", strings.HasPrefix(p.Description, "**ASKED AGAIN: A2A agent writer**"), true)
				same(t, "shows what", strings.Contains(p.Description, "Tool: files_delete"), true)
				s.decide(contract.DecideSignal{Approved: true, RequestID: "d2"})
				s.rest()
				same(t, "answer", s.answer("d2"), "deleted")
			})
		})
	}
}

// The opposite of a decision is never sent: an approval waits until the agent is reachable, and
// a person may still withdraw it.
func TestAnApprovalThatAnotherAgentDoesNotReceiveIsAskedAgain(t *testing.T) {
	for name, failing := range map[string]error{
		"away": unreachableError(), "refuses to hear": fails(contract.KindPeerFailed, "task not found"),
	} {
		for _, then := range []string{"approved", "rejected", "approved of a destructive agent", "rejected of a destructive agent"} {
			then, ofDestructive, _ := strings.Cut(then, " ")
			t.Run(name+", then "+then+" "+ofDestructive, func(t *testing.T) {
				away := true
				peer := &writer{started: waitingTask("u1", "Delete it?"), now: waitingTask("u1", "Delete it?"), answered: remote(contract.TaskCompleted, "deleted")}
				w := &world{DelegateFn: func(ctx context.Context, in contract.DelegateInput) (contract.DelegateResult, error) {
					if away && in.TaskID != "" {
						return contract.DelegateResult{}, failing
					}
					return peer.delegate(ctx, in)
				}}
				agent := ask("clean up")
				if ofDestructive != "" {
					agent = wipeNode()
				}
				converse(t, w, tree(agent), func(s *session) {
					s.rest()
					if ofDestructive != "" {
						s.approve()
						s.rest()
					}
					first := s.pending().UUID
					s.decide(contract.DecideSignal{Approved: true, By: "alice"})
					s.sleep(time.Minute)
					p := s.pending()
					same(t, "another approval", p.UUID != first, true)
					same(t, "reason", p.Reason, contract.ReasonRemote)
					same(t, "asks", strings.HasPrefix(p.Description, "**NOT TOLD: approval for A2A agent writer**"), true)
					same(t, "shows what", strings.Contains(p.Description, "Tool: files_delete"), true)
					away = false
					s.decide(contract.DecideSignal{Approved: then == "approved", RequestID: "d2"})
					s.sleep(time.Minute)
					want := "deleted"
					if then == "rejected" {
						want = "Operation cancelled by user."
					}
					same(t, "answer", s.answer("d2"), want)
				})
				sent := sentTo(w)
				same(t, "in the end", sent[len(sent)-1], then+" for task-1")
				for _, what := range sent[:len(sent)-1] {
					same(t, "before "+what, strings.HasPrefix(what, "rejected") || strings.HasPrefix(what, "cancel"), false)
				}
			})
		}
	}
}

func TestAnApprovedDelegationToAnAgentThatIsAwayIsNotUsedUp(t *testing.T) {
	away := true
	w := &world{DelegateFn: func(context.Context, contract.DelegateInput) (contract.DelegateResult, error) {
		if away {
			return contract.DelegateResult{}, unreachableError()
		}
		return remote(contract.TaskCompleted, "wiped"), nil
	}}
	converse(t, w, tree(wipeNode()), func(s *session) {
		s.rest()
		s.approve()
		s.sleep(time.Minute)
		p := s.pending()
		same(t, "reason", p.Reason, contract.ReasonNotReached)
		same(t, "asks", strings.HasPrefix(p.Description, "**NOT REACHED: a2a_writer**"), true)
		away = false
		s.decide(contract.DecideSignal{Approved: true, RequestID: "d2"})
		s.rest()
		same(t, "answer", s.answer("d2"), "wiped")
	})
}

// An approval without a decision was not rejected.
func TestATaskWhoseApprovalExpiredIsCancelled(t *testing.T) {
	peer := &writer{started: waitingTask("u1", "Delete it?"), now: waitingTask("u1", "Delete it?")}
	w := &world{DelegateFn: peer.delegate}
	converse(t, w, with(tree(ask("clean up")), func(a *contract.Agent) { a.ApprovalTimeout = time.Hour }), func(s *session) {
		s.rest()
		s.sleep(2 * time.Hour)
		s.nothingWaits()
	})
	sent := sentTo(w)
	same(t, "told", sent[len(sent)-1], "cancel task-1")
}
