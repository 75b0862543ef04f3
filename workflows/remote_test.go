package workflows_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// writer is another agent that works until it is told otherwise: begun is what it
// says to the message, and now what it says to who looks.
type writer struct {
	begun, now contract.DelegateResult
	answered   contract.DelegateResult // to an approval
	deaf       error                   // what becomes of refusals and cancellations
	broken     error                   // what becomes of looks
}

func (w *writer) delegate(_ context.Context, in contract.DelegateInput) (contract.DelegateResult, error) {
	switch {
	case in.Cancel, in.Decision == contract.Rejected:
		return remote(contract.TaskCanceled, "stopped"), w.deaf
	case in.Decision == contract.Approved:
		w.now = w.answered
		return w.answered, nil
	case in.TaskID != "":
		return w.now, w.broken
	}
	return w.begun, nil
}

func atWork() contract.DelegateResult { return remote(contract.TaskWorking, "") }

// asksFor is a task that waits for an approval with an ID.
func asksFor(uuid, text string) contract.DelegateResult {
	r := remote(contract.TaskInputRequired, text)
	r.Asked = &contract.Origin{
		Chain: []string{"writer", "archive"}, UUID: uuid, Tool: "files_delete", Digest: "d1", Reason: contract.ReasonDestructive,
		Arguments: contract.JSON{Raw: json.RawMessage(`{"path":"/a"}`)},
	}
	return r
}

// down is an agent that is not reached.
func down() error { return fails(contract.KindPeerUnavailable, "connection refused") }

// note is what the result of the only delegation tells people.
func (s *session) note() (note string) {
	for _, m := range s.messages() {
		if m.Role == contract.RoleTool {
			note = m.ToolCall.Note
		}
	}
	return note
}

func TestATaskThatWorksIsLookedAtUntilItIsDone(t *testing.T) {
	peer := &writer{begun: atWork(), now: atWork()}
	w := &world{DelegateFn: peer.delegate}
	s := converse(t, w, tree(ask("write")), func(s *session) {
		s.rest()
		s.unsettled("r1")
		same(t, "running", s.view().Running, true)
		s.sleep(20 * time.Minute)
		s.unsettled("r1")
		peer.now = remote(contract.TaskCompleted, "written")
		s.sleep(2 * time.Minute)
		same(t, "answer", s.answer("r1"), "written")
	})
	same(t, "sent", sentTo(w), []string{`{"message":"write"}`})
	if n := looks(w); n < 60 || n > 120 {
		t.Errorf("%d looks in 22 minutes", n)
	}
	look := read(w, &w.sent)[1]
	same(t, "look", look.TaskID+look.MessageID, "task-1")
	same(t, "look's time", s.seen.options(contract.ActivityDelegate.Name).Timeout, 90*time.Second)
	same(t, "summary", s.seen.options(contract.ActivityDelegate.Name).Summary, "look at the task of writer")
}

func TestAFailedLookIsNoEndOfTheTask(t *testing.T) {
	peer := &writer{begun: atWork(), broken: down()}
	w := &world{DelegateFn: peer.delegate}
	converse(t, w, tree(ask("write")), func(s *session) {
		s.sleep(10 * time.Minute)
		s.unsettled("r1")
		peer.broken, peer.now = nil, remote(contract.TaskCompleted, "written")
		s.sleep(5 * time.Minute)
		same(t, "answer", s.answer("r1"), "written")
	})
}

func TestATaskThatTheOtherAgentDeniesIsAnError(t *testing.T) {
	peer := &writer{begun: atWork(), broken: fails(contract.KindPeerFailed, "no such task"), deaf: fails(contract.KindPeerFailed, "no such task")}
	w := &world{DelegateFn: peer.delegate}
	converse(t, w, tree(ask("write")), func(s *session) {
		s.rest()
		same(t, "answer", s.answer("r1"), "A2A error: no such task")
		same(t, "note", s.note(), "The agent writer could not be told: A2A error: no such task")
	})
	same(t, "sent", sentTo(w), []string{`{"message":"write"}`, "cancel task-1"})
}

func TestATaskThatWorksTooLongIsCancelled(t *testing.T) {
	for name, tt := range map[string]struct {
		timeout, before, after time.Duration
		text                   string
	}{
		"by default":   {0, 59 * time.Minute, 2 * time.Minute, "1h"},
		"as it is set": {90 * time.Second, time.Minute, time.Minute, "1m30s"},
	} {
		t.Run(name, func(t *testing.T) {
			n := ask("write")
			n.Peer.Timeout = tt.timeout
			w := &world{DelegateFn: (&writer{begun: atWork(), now: atWork()}).delegate}
			converse(t, w, tree(n), func(s *session) {
				s.sleep(tt.before)
				s.unsettled("r1")
				s.sleep(tt.after)
				same(t, "answer", s.answer("r1"), "A2A error: agent writer had not finished after "+tt.text+"; the task was cancelled.")
				same(t, "outcome", s.view().Last.Outcome, contract.OutcomeFailed)
			})
			same(t, "sent", sentTo(w), []string{`{"message":"write"}`, "cancel task-1"})
		})
	}
}

func TestTimeInWhichATaskWaitsIsNotItsWork(t *testing.T) {
	peer := &writer{begun: asksFor("u1", "Sure?"), now: asksFor("u1", "Sure?"), answered: atWork()}
	w := &world{DelegateFn: peer.delegate}
	converse(t, w, tree(ask("write")), func(s *session) {
		s.sleep(100 * time.Hour)
		s.approve()
		s.sleep(50 * time.Minute)
		peer.now = remote(contract.TaskCompleted, "written")
		s.sleep(5 * time.Minute)
		same(t, "answer", lines(s.messages())[len(s.messages())-1], "assistant: written")
	})
}

func TestACancelledTurnCancelsTheTaskThatWorks(t *testing.T) {
	for name, root := range map[string]contract.Node{"alone": ask("write"), "in a tree": parallel("both", asking(ask("write")), llm("other"))} {
		t.Run(name, func(t *testing.T) {
			w := &world{GenerateFn: play(nil), DelegateFn: (&writer{begun: atWork(), now: atWork()}).delegate}
			converse(t, w, tree(root), func(s *session) {
				s.sleep(5 * time.Minute)
				s.cancel("c1", "")
				s.rest()
				same(t, "answer", s.answer("c1"), "The turn was cancelled.")
				same(t, "sent", sentTo(w), []string{`{"message":"write"}`, "cancel task-1"})
				seen := looks(w)
				s.sleep(time.Hour)
				same(t, "looks after that", looks(w), seen)
				s.usable()
			})
		})
	}
}

func TestANodeWhoseTimeIsUpCancelsItsTask(t *testing.T) {
	w := &world{GenerateFn: play(nil), DelegateFn: (&writer{begun: atWork(), now: atWork()}).delegate}
	converse(t, w, tree(asking(within(ask("write"), limit(time.Minute)))), func(s *session) {
		s.sleep(2 * time.Minute)
		same(t, "sent", sentTo(w), []string{`{"message":"write"}`, "cancel task-1"})
		same(t, "result", lines(s.messages())[3], "failed a2a_writer: A2A error: the time was up")
		same(t, "states", s.states(), "pipeline:done[find:done ask:failed tell:done]")
	})
}

// Only when the message has arrived is there a task that can be cancelled.
func TestASendUnderWayIsSeenThroughAndThenItsTaskIsCancelled(t *testing.T) {
	for name, tt := range map[string]struct {
		result any
		err    error
		sent   []string
	}{
		"it works":     {atWork(), nil, []string{`{"message":"write"}`, "cancel task-1"}},
		"it waits":     {asksFor("u1", "Sure?"), nil, []string{`{"message":"write"}`, "cancel task-1"}},
		"it is done":   {remote(contract.TaskCompleted, "written"), nil, []string{`{"message":"write"}`}},
		"nobody knows": {nil, fails(contract.KindPeerFailed, "refused"), []string{`{"message":"write"}`}},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{GenerateFn: play(nil), DelegateFn: func(_ context.Context, in contract.DelegateInput) (contract.DelegateResult, error) {
				if in.Cancel {
					return remote(contract.TaskCanceled, "stopped"), nil
				}
				return contract.DelegateResult{}, held
			}}
			converse(t, w, tree(asking(ask("write"))), func(s *session) {
				s.rest()
				s.cancel("c1", "")
				s.rest()
				s.unsettled("c1")
				s.release("delegate", tt.result, tt.err)
				s.rest()
				same(t, "answer", s.answer("c1"), "The turn was cancelled.")
				same(t, "sent", sentTo(w), tt.sent)
				same(t, "looks", looks(w), 0)
				s.usable()
			})
		})
	}
}

func TestTheChainOfAgentsGoesAlong(t *testing.T) {
	for name, root := range map[string]contract.Node{"alone": ask("write"), "in a tree": sequential("pipeline", parallel("both", ask("write"), llm("other")))} {
		t.Run(name, func(t *testing.T) {
			w := &world{GenerateFn: play(nil)}
			in := tree(root)
			in.Chain = []string{"first", "second"}
			converse(t, w, in, func(s *session) {
				s.rest()
				same(t, "chain", read(w, &w.sent)[0].Chain, []string{"first", "second", "tester"})
				same(t, "shown", s.view().Chain, []string{"first", "second"})
			})
		})
	}
}

func TestFilesOfTheOtherAgentAreInTheResult(t *testing.T) {
	done := remote(contract.TaskCompleted, "drawn")
	done.Media = []contract.Media{{Blob: contract.NewBlob([]byte("png")), MIMEType: "image/png", Name: "a.png"}}
	w := &world{GenerateFn: play(nil), DelegateFn: answers(done)}
	converse(t, w, tree(asking(ask("draw"))), func(s *session) {
		s.rest()
		same(t, "media", s.messages()[3].ToolCall.Media, done.Media)
	})
}

func TestTheLooksOfAMonthAreFew(t *testing.T) {
	w := &world{DelegateFn: (&writer{begun: asksFor("u1", "Sure?"), now: asksFor("u1", "Sure?")}).delegate}
	converse(t, w, tree(ask("write")), func(s *session) {
		for range 30 {
			s.sleep(24 * time.Hour)
		}
	})
	if n := looks(w); n < 1000 || n > 2000 {
		t.Errorf("%d looks", n)
	}
}

func TestALongHistoryIsLookedIntoRarely(t *testing.T) {
	w := &world{DelegateFn: (&writer{begun: asksFor("u1", "Sure?"), now: asksFor("u1", "Sure?")}).delegate}
	converse(t, w, tree(ask("write")), func(s *session) {
		s.rest()
		s.env.SetCurrentHistoryLength(20_000)
		s.sleep(time.Hour)
		before := looks(w)
		s.sleep(10 * 24 * time.Hour)
		if n := looks(w) - before; n < 9 || n > 11 {
			t.Errorf("%d looks in ten days", n)
		}
	})
}
