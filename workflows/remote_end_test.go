package workflows_test

import (
	"context"
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// agentByKind is an agent with one answer for each kind of message.
type agentByKind struct {
	begun, now, approved, rejected, cancelled contract.DelegateResult
	away                                      bool // refusals and cancellations do not arrive
}

func (g *agentByKind) delegate(_ context.Context, in contract.DelegateInput) (contract.DelegateResult, error) {
	switch {
	case g.away && (in.Cancel || in.Decision == contract.Rejected):
		return contract.DelegateResult{}, unreachableError()
	case in.Cancel:
		return g.cancelled, nil
	case in.Decision == contract.Rejected:
		return g.rejected, nil
	case in.Decision == contract.Approved:
		return g.approved, nil
	case in.TaskID != "":
		return g.now, nil
	}
	return g.begun, nil
}

func TestATaskThatWantsALoginIsCancelledBecauseNobodyComesBackToIt(t *testing.T) {
	nameless := remote(contract.TaskAuthRequired, "Log in.")
	nameless.TaskID = ""
	for name, tt := range map[string]struct {
		begun, cancelled contract.DelegateResult
		sent             []string
		note             string
	}{
		"a task":        {remote(contract.TaskAuthRequired, "Log in."), remote(contract.TaskCanceled, ""), []string{`{"message":"write"}`, "cancel task-1"}, ""},
		"no task":       {nameless, nameless, []string{`{"message":"write"}`}, ""},
		"nothing heard": {remote(contract.TaskAuthRequired, "Log in."), remote(contract.TaskAuthRequired, "Log in first."), []string{`{"message":"write"}`, "cancel task-1"}, "The agent writer could not be told: Authentication required by A2A agent writer."},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{DelegateFn: (&agentByKind{begun: tt.begun, cancelled: tt.cancelled}).delegate}
			converse(t, w, tree(ask("write")), func(s *session) {
				s.rest()
				same(t, "answer", s.answer("r1"), "Log in.")
				same(t, "auth required", s.request("r1").Result.AuthRequired, true)
				same(t, "note", s.note(), tt.note)
			})
			same(t, "sent", sentTo(w), tt.sent)
		})
	}
}

// A token lives for hours, an approval may wait for months.
func TestATokenThatExpiresDoesNotWithdrawTheApproval(t *testing.T) {
	w := &world{DelegateFn: (&agentByKind{begun: waitingTask("u1", "Sure?"), now: remote(contract.TaskAuthRequired, "Who are you?"), approved: remote(contract.TaskCompleted, "deleted")}).delegate}
	converse(t, w, tree(ask("clean up")), func(s *session) {
		s.rest()
		uuid := s.pending().UUID
		s.sleep(100 * time.Hour)
		same(t, "approval", s.pending().UUID, uuid)
		s.decide(contract.DecideSignal{Approved: true, RequestID: "d1"})
		s.rest()
		same(t, "answer", s.answer("d1"), "deleted")
	})
}

func TestAnotherQuestionInWordsTakesThePlaceOfTheFirst(t *testing.T) {
	plain := func(text string) contract.DelegateResult { return remote(contract.TaskInputRequired, text) }
	for name, tt := range map[string]struct {
		now     string
		another bool
	}{
		"the same": {"Delete a?", false}, "no words": {"", false}, "others": {"Delete b?", true},
	} {
		t.Run(name, func(t *testing.T) {
			peer := &agentByKind{begun: plain("Delete a?"), now: plain("Delete a?"), approved: remote(contract.TaskCompleted, "deleted")}
			w := &world{DelegateFn: peer.delegate}
			converse(t, w, tree(ask("clean up")), func(s *session) {
				s.rest()
				first := s.pending().UUID
				peer.now = plain(tt.now)
				s.sleep(time.Hour)
				same(t, "another approval", s.pending().UUID != first, tt.another)
				s.decide(contract.DecideSignal{Approved: true, RequestID: "d1"})
				s.rest()
				same(t, "answer", s.answer("d1"), "deleted")
			})
			want := "Delete a?"
			if tt.another {
				want = tt.now
			}
			same(t, "decided on", sentMessages(w)[1].Question.Inline, want)
		})
	}
}

func TestATaskThatGoesOnAfterARefusalIsCancelled(t *testing.T) {
	for name, rejected := range map[string]contract.DelegateResult{
		"it works": atWork(), "it asks for something else": waitingTask("u2", "Delete b then?"), "it is over": remote(contract.TaskRejected, "kept"),
	} {
		for how, away := range map[string]bool{"at once": false, "later": true} {
			t.Run(name+", "+how, func(t *testing.T) {
				peer := &agentByKind{begun: waitingTask("u1", "Delete a?"), now: waitingTask("u1", "Delete a?"), rejected: rejected, cancelled: remote(contract.TaskCanceled, ""), away: away}
				w := &world{DelegateFn: peer.delegate}
				converse(t, w, tree(ask("clean up")), func(s *session) {
					s.rest()
					s.reject()
					s.rest()
					peer.away = false
					s.sleep(time.Hour)
				})
				sent := sentTo(w)
				if rejected.State.Over() {
					same(t, "last", sent[len(sent)-1], "rejected for task-1")
					return
				}
				same(t, "in the end", sent[len(sent)-2:], []string{"rejected for task-1", "cancel task-1"})
			})
		}
	}
}

func TestADeliveryThatIsNotLetInSaysSo(t *testing.T) {
	in := contract.DelegateInput{MessageID: "m1", TaskID: "task-1", Cancel: true, Peer: contract.Peer{Name: "writer"}}
	got, err := delivered(t, in, answers(remote(contract.TaskAuthRequired, "Who are you?")))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "result", got, contract.DeliveryResult{
		State: contract.TaskAuthRequired, Problem: "The agent writer could not be told: Authentication required by A2A agent writer.",
	})
}
