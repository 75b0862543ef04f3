package workflows_test

import (
	"context"
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// task returns a conversation that is a task.
func task(in contract.ConversationInput) contract.ConversationInput {
	in.Task, in.ContextID = true, "context-1"
	return in
}

func TestATaskEndsWithItsTurn(t *testing.T) {
	w := &world{GenerateFn: holdModel}
	s := converse(t, w, task(hello()), func(s *session) {
		s.rest()
		caller := s.await("r1")
		s.rest()
		same(t, "at work", s.view().TaskState(), contract.TaskWorking)
		s.release("generate", says("Hello!"), nil)
		s.rest()
		same(t, "answered", caller.ids(), []string{"r1"})
		same(t, "answer", s.answer("r1"), "Hello!")
		v := s.view()
		same(t, "status", v.Status, contract.StatusCompleted)
		same(t, "state", v.TaskState(), contract.TaskCompleted)
		same(t, "context", v.ContextID, "context-1")
	})
	same(t, "exports", len(read(w, &w.exports)), 1)
	same(t, "exported", w.exported().Status, contract.StatusCompleted)
	same(t, "last", w.exported().Last.Response.Inline, "Hello!")
	same(t, "found by", s.seen.states, []string{"completed"})
	same(t, "upserts", s.seen.upserts, 1)
	r := s.result()
	same(t, "outcome", r.Outcome, contract.OutcomeDone)
	same(t, "turns", r.Turns, 1)
}

func TestTheOutcomeOfATask(t *testing.T) {
	for name, tt := range map[string]struct {
		replies []any
		during  func(s *session)
		outcome contract.Outcome
		state   contract.TaskState
	}{
		"done":     {[]any{says("Hi.")}, func(*session) {}, contract.OutcomeDone, contract.TaskCompleted},
		"failed":   {[]any{fails(contract.KindModelAuth, "no key")}, func(*session) {}, contract.OutcomeFailed, contract.TaskFailed},
		"rejected": {[]any{asks(add("x"))}, func(s *session) { s.reject() }, contract.OutcomeRejected, contract.TaskRejected},
		"cancelled while it waits": {[]any{asks(add("x"))}, func(s *session) { s.cancel("c1", "") },
			contract.OutcomeCancelled, contract.TaskCanceled},
		"closed while it waits": {[]any{asks(add("x"))}, func(s *session) { s.close("x1", "") },
			contract.OutcomeCancelled, contract.TaskCanceled},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{GenerateFn: script(tt.replies...)}
			s := converse(t, w, task(hello()), func(s *session) {
				s.rest()
				tt.during(s)
				s.rest()
			})
			same(t, "ended", s.result().Status, contract.StatusCompleted)
			same(t, "outcome", s.result().Outcome, tt.outcome)
			same(t, "state", w.exported().TaskState(), tt.state)
			same(t, "found by", s.seen.states[len(s.seen.states)-1], string(tt.state))
		})
	}
}

func TestATaskIsFoundByWhatItWaitsFor(t *testing.T) {
	w := &world{GenerateFn: script(asks(add("x")), says("done"))}
	s := converse(t, w, task(hello()), func(s *session) {
		s.rest()
		same(t, "waits", s.view().TaskState(), contract.TaskInputRequired)
		s.approve()
		s.rest()
	})
	same(t, "found by", s.seen.states, []string{"input-required", "working", "completed"})
	same(t, "statuses", s.seen.statuses, []string{"waiting_approval", "active", "completed"})
	same(t, "upserts", s.seen.upserts, 3)
}

func TestAnOrdinaryConversationIsNoTask(t *testing.T) {
	w := &world{GenerateFn: script(asks(add("x")), says("done"))}
	s := converse(t, w, hello(), func(s *session) {
		s.rest()
		s.approve()
		s.rest()
		same(t, "goes on", s.view().Status, contract.StatusActive)
		same(t, "last", s.view().Last.Outcome, contract.OutcomeDone)
	})
	same(t, "found by", len(s.seen.states), 0)
}

func TestATaskAnswersWhatIsQueuedFirst(t *testing.T) {
	w := &world{GenerateFn: holdModel}
	s := converse(t, w, task(hello()), func(s *session) {
		s.rest()
		s.say("r2", "two")
		s.rest()
		s.release("generate", says("one"), nil)
		s.rest()
		same(t, "first", s.answer("r1"), "one")
		same(t, "goes on", s.view().TaskState(), contract.TaskWorking)
		s.release("generate", says("two"), nil)
		s.rest()
		same(t, "second", s.answer("r2"), "two")
	})
	same(t, "turns", s.result().Turns, 2)
	same(t, "exports", len(read(w, &w.exports)), 2)
}

// The message arrives while the turn's last export is written.
func TestAMessageThatComesTooLateForATaskIsRefused(t *testing.T) {
	var s *session
	w := &world{ExportFn: func(context.Context, contract.ExportInput) (contract.ExportResult, error) {
		s.say("r2", "late")
		return contract.ExportResult{}, nil
	}}
	s = newSession(t, w, contract.ConversationWorkflowID(conversationID))
	s.run(contract.WorkflowConversation, task(hello()), func(s *session) {
		s.rest()
		s.rest()
		same(t, "answer", s.answer("r1"), "Hello!")
		same(t, "refused", s.request("r2").Refused, contract.KindCompleted)
	}, func() {})
	same(t, "turns", s.result().Turns, 1)
	same(t, "transcript", len(w.exported().Transcript.Tail), 3)
}

func TestATaskWithASignalThatIsNoMessageEndsAllTheSame(t *testing.T) {
	w := &world{GenerateFn: holdModel}
	s := converse(t, w, task(hello()), func(s *session) {
		s.rest()
		s.env.SignalWorkflow(contract.SignalMessage, typed(`{}`))
		s.release("generate", says("one"), nil)
		s.rest()
		same(t, "answer", s.answer("r1"), "one")
	})
	same(t, "outcome", s.result().Outcome, contract.OutcomeDone)
}

func TestATaskThatWantsTheUserToLogInGoesOn(t *testing.T) {
	w := &world{DelegateFn: answers(remote(contract.TaskAuthRequired, "Log in."), remote(contract.TaskCanceled, ""), remote(contract.TaskCompleted, "written"))}
	s := converse(t, w, task(tree(ask(""))), func(s *session) {
		s.rest()
		v := s.view()
		same(t, "state", v.TaskState(), contract.TaskAuthRequired)
		same(t, "by", v.Last.AuthRequired, "writer")
		same(t, "status", v.Status, contract.StatusActive)
		s.sleep(100 * time.Hour)
		s.say("r2", "again")
		s.rest()
		same(t, "answer", s.answer("r2"), "written")
	})
	same(t, "outcome", s.result().Outcome, contract.OutcomeDone)
	same(t, "found by", s.seen.states, []string{"auth-required", "working", "completed"})
}

func TestACancelEndsATask(t *testing.T) {
	logIn := answers(remote(contract.TaskAuthRequired, "Log in."), remote(contract.TaskCanceled, ""))
	withoutWord := task(silent())
	for name, tt := range map[string]struct {
		in    contract.ConversationInput
		world *world
		turns int
	}{
		"that nobody has asked anything":   {withoutWord, &world{}, 0},
		"that waits for a login":           {task(tree(ask(""))), &world{DelegateFn: logIn}, 1},
		"that is asked":                    {task(hello()), &world{GenerateFn: holdModel}, 1},
		"that is asked, with more to come": {task(hello()), &world{GenerateFn: holdModel}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := converse(t, tt.world, tt.in, func(s *session) {
				s.rest()
				if name == "that is asked, with more to come" {
					s.say("r2", "two")
					s.rest()
				}
				s.cancel("c1", "enough")
				s.rest()
				same(t, "answer", s.answer("c1"), "The turn was cancelled. enough")
				v := s.view()
				same(t, "state", v.TaskState(), contract.TaskCanceled)
				same(t, "last", v.Last.Response.Inline, "The turn was cancelled. enough")
				if r := s.request("r2"); r.ID != "" {
					same(t, "refused", r.Refused, contract.KindCompleted)
				}
			})
			r := s.result()
			same(t, "outcome", r.Outcome, contract.OutcomeCancelled)
			same(t, "reason", r.Reason, "enough")
			same(t, "turns", r.Turns, tt.turns)
			same(t, "found by", s.seen.states[len(s.seen.states)-1], "canceled")
		})
	}
}

func TestATaskInATreeEndsWithItsTurn(t *testing.T) {
	w := &world{GenerateFn: play(nil)}
	s := converse(t, w, task(tree(sequential("pipeline", llm("find"), llm("tell")))), func(s *session) { s.rest(); s.rest() })
	same(t, "outcome", s.result().Outcome, contract.OutcomeDone)
	same(t, "status", w.exported().Status, contract.StatusCompleted)
}

func TestATaskWhoseFileCannotBeWrittenEndsWhenItIs(t *testing.T) {
	disk := &diskFull{full: true}
	w := &world{ExportFn: disk.export}
	s := converse(t, w, task(hello()), func(s *session) {
		s.sleep(time.Minute)
		same(t, "answer", s.answer("r1"), "Hello!")
		disk.full = false
		s.sleep(time.Hour)
	})
	same(t, "outcome", s.result().Outcome, contract.OutcomeDone)
	same(t, "status", w.exported().Status, contract.StatusCompleted)
}

func TestHowTheLastTurnEndedSurvivesANewRun(t *testing.T) {
	w := &world{DelegateFn: answers(remote(contract.TaskAuthRequired, "Log in."), remote(contract.TaskCanceled, ""), remote(contract.TaskCompleted, "written"))}
	in := task(tree(ask("")))
	in.Chain = []string{"front"}
	s := converse(t, w, in, func(s *session) {
		s.rest()
		s.env.SetCurrentHistoryLength(8_000)
		s.rest()
	})
	next, ok := s.next()
	if !ok {
		t.Fatalf("the run did not continue: %v", s.env.GetWorkflowError())
	}
	same(t, "last", next.Carried.Last.AuthRequired, "writer")
	s = converse(t, w, next, func(s *session) {
		s.rest()
		v := s.view()
		same(t, "state", v.TaskState(), contract.TaskAuthRequired)
		same(t, "chain", v.Chain, []string{"front"})
		s.say("r2", "again")
		s.rest()
		same(t, "answer", s.answer("r2"), "written")
	})
	same(t, "outcome", s.result().Outcome, contract.OutcomeDone)
	same(t, "found by", s.seen.states, []string{"working", "completed"})
}

func TestAMessageMayBeFilesAlone(t *testing.T) {
	w := &world{}
	picture := contract.Media{Blob: contract.NewBlob([]byte("png")), MIMEType: "image/png", Name: "a.png"}
	converse(t, w, silent(), func(s *session) {
		s.message(contract.MessageSignal{RequestID: "r1", Media: []contract.Media{picture}})
		s.rest()
		same(t, "answer", s.answer("r1"), "Hello!")
		same(t, "message", s.view().Transcript.Tail[1].Media, []contract.Media{picture})
	})
	same(t, "model saw", read(w, &w.prompts)[0].Transcript.Tail[1].Media, []contract.Media{picture})
}
