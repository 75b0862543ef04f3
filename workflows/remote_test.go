package workflows_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// writer is another agent that works until the test changes its state: started is its answer to
// the message, and now its answer to polls.
type writer struct {
	started, now contract.DelegateResult
	answered     contract.DelegateResult // answer to an approval
	refusalError error                   // error of refusals and cancellations
	pollError    error                   // error of polls
}

func (w *writer) delegate(_ context.Context, in contract.DelegateInput) (contract.DelegateResult, error) {
	switch {
	case in.Cancel, in.Decision == contract.Rejected:
		return remote(contract.TaskCanceled, "stopped"), w.refusalError
	case in.Decision == contract.Approved:
		w.now = w.answered
		return w.answered, nil
	case in.TaskID != "":
		return w.now, w.pollError
	}
	return w.started, nil
}

func atWork() contract.DelegateResult { return remote(contract.TaskWorking, "") }

// waitingTask returns a task that waits for an approval with an ID.
func waitingTask(uuid, text string) contract.DelegateResult {
	r := remote(contract.TaskInputRequired, text)
	r.Asked = &contract.Origin{
		Chain: []string{"writer", "archive"}, UUID: uuid, Tool: "files_delete", Digest: "d1", Reason: contract.ReasonDestructive,
		Arguments: contract.JSON{Raw: json.RawMessage(`{"path":"/a"}`)},
	}
	return r
}

// unreachableError returns the error of an agent that cannot be reached.
func unreachableError() error { return fails(contract.KindPeerUnavailable, "connection refused") }

// note returns the note on the result of the only delegation.
func (s *session) note() (note string) {
	for _, m := range s.messages() {
		if m.Role == contract.RoleTool {
			note = m.ToolCall.Note
		}
	}
	return note
}

func TestATaskThatWorksIsLookedAtUntilItIsDone(t *testing.T) {
	peer := &writer{started: atWork(), now: atWork()}
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
	if n := countPolls(w); n < 60 || n > 120 {
		t.Errorf("%d looks in 22 minutes", n)
	}
	look := read(w, &w.sent)[1]
	same(t, "look", look.TaskID+look.MessageID, "task-1")
	same(t, "look's time", s.seen.options(contract.ActivityDelegate.Name).Timeout, 90*time.Second)
	same(t, "summary", s.seen.options(contract.ActivityDelegate.Name).Summary, "look at the task of writer")
}

func TestAFailedLookIsNoEndOfTheTask(t *testing.T) {
	peer := &writer{started: atWork(), pollError: unreachableError()}
	w := &world{DelegateFn: peer.delegate}
	converse(t, w, tree(ask("write")), func(s *session) {
		s.sleep(10 * time.Minute)
		s.unsettled("r1")
		peer.pollError, peer.now = nil, remote(contract.TaskCompleted, "written")
		s.sleep(5 * time.Minute)
		same(t, "answer", s.answer("r1"), "written")
	})
}

func TestATaskThatTheOtherAgentDeniesIsAnError(t *testing.T) {
	peer := &writer{started: atWork(), pollError: fails(contract.KindPeerFailed, "no such task"), refusalError: fails(contract.KindPeerFailed, "no such task")}
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
			w := &world{DelegateFn: (&writer{started: atWork(), now: atWork()}).delegate}
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
	peer := &writer{started: waitingTask("u1", "Sure?"), now: waitingTask("u1", "Sure?"), answered: atWork()}
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
	for name, root := range map[string]contract.Node{"alone": ask("write"), "in a tree": parallel("both", sequenceWith(ask("write")), llm("other"))} {
		t.Run(name, func(t *testing.T) {
			w := &world{GenerateFn: play(nil), DelegateFn: (&writer{started: atWork(), now: atWork()}).delegate}
			converse(t, w, tree(root), func(s *session) {
				s.sleep(5 * time.Minute)
				s.cancel("c1", "")
				s.rest()
				same(t, "answer", s.answer("c1"), "The turn was cancelled.")
				same(t, "sent", sentTo(w), []string{`{"message":"write"}`, "cancel task-1"})
				seen := countPolls(w)
				s.sleep(time.Hour)
				same(t, "looks after that", countPolls(w), seen)
				s.checkUsable()
			})
		})
	}
}

func TestANodeWhoseTimeIsUpCancelsItsTask(t *testing.T) {
	w := &world{GenerateFn: play(nil), DelegateFn: (&writer{started: atWork(), now: atWork()}).delegate}
	converse(t, w, tree(sequenceWith(within(ask("write"), limit(time.Minute)))), func(s *session) {
		s.sleep(2 * time.Minute)
		same(t, "sent", sentTo(w), []string{`{"message":"write"}`, "cancel task-1"})
		same(t, "result", lines(s.messages())[3], "failed a2a_writer: A2A error: the time was up")
		same(t, "states", s.states(), "pipeline:done[find:done ask:failed tell:done]")
	})
}

// There is no task to cancel before the message has arrived.
func TestASendUnderWayIsSeenThroughAndThenItsTaskIsCancelled(t *testing.T) {
	for name, tt := range map[string]struct {
		result any
		err    error
		sent   []string
	}{
		"it works":     {atWork(), nil, []string{`{"message":"write"}`, "cancel task-1"}},
		"it waits":     {waitingTask("u1", "Sure?"), nil, []string{`{"message":"write"}`, "cancel task-1"}},
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
			converse(t, w, tree(sequenceWith(ask("write"))), func(s *session) {
				s.rest()
				s.cancel("c1", "")
				s.rest()
				s.unsettled("c1")
				s.release("delegate", tt.result, tt.err)
				s.rest()
				same(t, "answer", s.answer("c1"), "The turn was cancelled.")
				same(t, "sent", sentTo(w), tt.sent)
				same(t, "looks", countPolls(w), 0)
				s.checkUsable()
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
	converse(t, w, tree(sequenceWith(ask("draw"))), func(s *session) {
		s.rest()
		same(t, "media", s.messages()[3].ToolCall.Media, done.Media)
	})
}

func TestTheLooksOfAMonthAreFew(t *testing.T) {
	w := &world{DelegateFn: (&writer{started: waitingTask("u1", "Sure?"), now: waitingTask("u1", "Sure?")}).delegate}
	converse(t, w, tree(ask("write")), func(s *session) {
		for range 30 {
			s.sleep(24 * time.Hour)
		}
	})
	if n := countPolls(w); n < 1000 || n > 2000 {
		t.Errorf("%d looks", n)
	}
}

func TestALongHistoryIsLookedIntoRarely(t *testing.T) {
	w := &world{DelegateFn: (&writer{started: waitingTask("u1", "Sure?"), now: waitingTask("u1", "Sure?")}).delegate}
	converse(t, w, tree(ask("write")), func(s *session) {
		s.rest()
		s.env.SetCurrentHistoryLength(20_000)
		s.sleep(time.Hour)
		before := countPolls(w)
		s.sleep(10 * 24 * time.Hour)
		if n := countPolls(w) - before; n < 9 || n > 11 {
			t.Errorf("%d looks in ten days", n)
		}
	})
}
