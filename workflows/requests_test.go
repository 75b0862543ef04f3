package workflows_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract"
)

func TestFiftyMessagesAtOnceAreAnsweredInOrder(t *testing.T) {
	w := &world{GenerateFn: echo}
	converse(t, w, silent(), func(s *session) {
		want := []string{"system: Be brief."}
		for i := range 50 {
			s.say(fmt.Sprintf("r%d", i), fmt.Sprintf("m%d", i))
			want = append(want, fmt.Sprintf("user: m%d", i), fmt.Sprintf("assistant: echo m%d", i))
		}
		s.rest()
		same(t, "transcript", s.lines(), want)
		for i := range 50 {
			same(t, "answer", s.answer(fmt.Sprintf("r%d", i)), fmt.Sprintf("echo m%d", i))
		}
	})
}

func TestMessagesQueueWhileATurnRuns(t *testing.T) {
	w := &world{GenerateFn: holdModel}
	converse(t, w, hello(), func(s *session) {
		s.say("r2", "two")
		s.say("r3", "three")
		s.rest()
		v := s.view()
		if !v.Running || v.Queued != 2 {
			t.Errorf("running=%v queued=%d", v.Running, v.Queued)
		}
		same(t, "transcript", s.lines(), []string{"system: Be brief.", "user: hello"})
		w.GenerateFn = echo
		s.release("generate", says("one"), nil)
		s.rest()
		same(t, "transcript", s.lines()[2:], []string{
			"assistant: one", "user: two", "assistant: echo two", "user: three", "assistant: echo three",
		})
	})
}

func TestAMessageToAWaitingConversationIsRefusedAndNotRecorded(t *testing.T) {
	w := &world{GenerateFn: script(asks(add("x")), says("Added."), says("Late."))}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		s.say("r2", "hurry up")
		caller := s.await("r2")
		s.rest()
		same(t, "released", caller.ids(), []string{"r2"})
		r := s.request("r2")
		same(t, "refused", r.Refused, contract.KindWaiting)
		same(t, "response", r.Result.Response.Inline,
			"Conversation is waiting for approval. Please respond to the pending approval first.")
		same(t, "approval", *r.Result.Approval, s.pending())
		same(t, "waiting", r.Result.WaitingApproval, true)
		same(t, "transcript", s.lines(), waitingForX)
		s.approve()
		s.rest()
		same(t, "model calls", len(read(w, &w.prompts)), 2)
	})
}

func TestAMessageQueuedBeforeAPauseIsAnsweredAfterTheDecision(t *testing.T) {
	w := &world{GenerateFn: holdModel}
	converse(t, w, hello(), func(s *session) {
		s.say("r2", "and then?")
		s.rest()
		w.GenerateFn = script(says("Added."), says("Then nothing."))
		s.release("generate", asks(add("x")), nil)
		s.rest()
		s.unsettled("r2")
		same(t, "queued", s.view().Queued, 1)
		s.approve()
		s.rest()
		same(t, "answer", s.answer("r2"), "Then nothing.")
	})
}

func TestARepeatedRequestIsDoneOnceAndKeepsItsFirstAnswer(t *testing.T) {
	w := &world{GenerateFn: echo}
	converse(t, w, silent(), func(s *session) {
		s.message(contract.MessageSignal{RequestID: "r1", Fingerprint: "f1", Text: contract.Inline("one")})
		s.message(contract.MessageSignal{RequestID: "r1", Fingerprint: "f2", Text: contract.Inline("other")})
		s.rest()
		s.message(contract.MessageSignal{RequestID: "r1", Fingerprint: "f3", Text: contract.Inline("another")})
		s.cancel("r1", "")
		s.close("r1", "")
		s.rest()
		same(t, "transcript", s.lines(), []string{"system: Be brief.", "user: one", "assistant: echo one"})
		same(t, "answer", s.answer("r1"), "echo one")
		same(t, "fingerprint", s.request("r1").Fingerprint, "f1")
		same(t, "status", s.view().Status, contract.StatusActive)
	})
}

func TestTheFirstMessageIsARequestLikeAnyOther(t *testing.T) {
	w := &world{GenerateFn: echo}
	converse(t, w, hello(), func(s *session) {
		s.say("r1", "again")
		s.rest()
		same(t, "transcript", s.lines(), []string{"system: Be brief.", "user: hello", "assistant: echo hello"})
	})
}

func TestMessagesTypedByHandAreAnswered(t *testing.T) {
	for _, raw := range []string{`"Hello"`, `{"text":"Hello"}`} {
		t.Run(raw, func(t *testing.T) {
			converse(t, &world{GenerateFn: echo}, silent(), func(s *session) {
				for range 2 { // without a request id they are two requests
					s.env.SignalWorkflow(contract.SignalMessage, typed(raw))
				}
				s.rest()
				same(t, "transcript", s.lines()[1:], []string{
					"user: Hello", "assistant: echo Hello", "user: Hello", "assistant: echo Hello",
				})
			})
		})
	}
}

func TestAMalformedMessageIsShownAndLosesNothing(t *testing.T) {
	for _, raw := range []string{`garbage`, ``, `null`, `{}`, `{"text":""}`, `""`, `42`, `["Hello"]`, `{"text":7}`, `{"message":"Hello"}`} {
		t.Run(raw, func(t *testing.T) {
			converse(t, &world{GenerateFn: echo}, silent(), func(s *session) {
				s.rest()
				s.env.SignalWorkflow(contract.SignalMessage, typed(raw))
				s.rest()
				same(t, "transcript", s.lines(), []string{"system: Be brief."})
				trouble(t, s, "a message signal")
				s.env.SignalWorkflowSkippingWorkflowTask(contract.SignalMessage, typed(raw))
				s.say("r1", "Hello")
				s.rest()
				same(t, "answer", s.answer("r1"), "echo Hello")
			})
		})
	}
}

func TestAMalformedMessageStaysShownWhenTheTurnEnds(t *testing.T) {
	w := &world{GenerateFn: holdModel}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		s.env.SignalWorkflow(contract.SignalMessage, typed(`{}`))
		s.rest()
		s.release("generate", says("Hi."), nil)
		s.rest()
		trouble(t, s, "a message signal")
		w.GenerateFn = echo
		s.say("r2", "better")
		s.rest()
		if d := s.details(contract.ConversationWorkflowID(conversationID)); strings.Contains(d, "Trouble") {
			t.Errorf("old trouble is still shown:\n%s", d)
		}
	})
}

func trouble(t *testing.T, s *session, what string) {
	t.Helper()
	d := s.details(contract.ConversationWorkflowID(conversationID))
	if _, text, ok := strings.Cut(d, "**Trouble:**"); !ok || !strings.Contains(text, what) {
		t.Errorf("details do not tell of %q:\n%s", what, d)
	}
}

func TestSignalsWithoutArgumentsStillWork(t *testing.T) {
	for _, raw := range []any{nil, typed(`garbage`), typed(``)} {
		w := &world{GenerateFn: holdModel}
		s := converse(t, w, hello(), func(s *session) {
			s.rest()
			s.env.SignalWorkflow(contract.SignalCancel, raw)
			s.rest()
			same(t, "answer", s.answer("r1"), "The turn was cancelled.")
			s.env.SignalWorkflow(contract.SignalClose, raw)
			s.rest()
		})
		same(t, "status", s.result().Status, contract.StatusCompleted)
		same(t, "exports", len(read(w, &w.exports)), 2)
	}
}

func TestAnUnchangedConversationIsClosedAndNoOther(t *testing.T) {
	w := &world{GenerateFn: script(asks(add("x")), says("Added."))}
	s := converse(t, w, hello(), func(s *session) {
		stale := contract.CloseSignal{RequestID: "old", UnchangedSince: time.Now().Add(100 * 365 * 24 * time.Hour)}
		s.rest()
		s.env.SignalWorkflow(contract.SignalClose, stale)
		s.rest()
		same(t, "while an approval waits", s.view().Status, contract.StatusWaitingApproval)
		s.approve()
		s.rest()
		s.env.SignalWorkflow(contract.SignalClose, contract.CloseSignal{RequestID: "late", UnchangedSince: s.view().UpdatedAt.Add(-time.Second)})
		s.rest()
		same(t, "once it has changed", s.view().Status, contract.StatusActive)
		s.env.SignalWorkflow(contract.SignalClose, stale)
		s.rest()
	})
	same(t, "idle and old", s.result().Status, contract.StatusCompleted)
}

func TestAQueryTellsWhatBecameOfARequest(t *testing.T) {
	w := &world{GenerateFn: holdModel}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		same(t, "running", s.request("r1"), contract.Request{ID: "r1"})
		same(t, "unknown", s.request("r9"), contract.Request{})
		s.release("generate", says("Hi."), nil)
		s.rest()
		same(t, "settled", s.request("r1").Settled, true)
	})
}

func TestSignalsThatArriveWhileTheFileIsWrittenAreNotLost(t *testing.T) {
	w := &world{GenerateFn: holdModel}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		w.GenerateFn = echo
		w.ExportFn = func(_ context.Context, in contract.ExportInput) (contract.ExportResult, error) {
			if in.Conversation.Transcript.Len() == 3 { // they have arrived when the workflow next receives, after the export
				s.env.SignalWorkflowSkippingWorkflowTask(contract.SignalCancel, contract.CancelSignal{RequestID: "c1"})
				s.env.SignalWorkflowSkippingWorkflowTask(contract.SignalMessage, contract.MessageSignal{RequestID: "r2", Text: contract.Inline("two")})
			}
			return contract.ExportResult{}, nil
		}
		s.release("generate", says("one"), nil)
		s.rest()
		same(t, "first", s.answer("r1"), "one")
		same(t, "second", s.answer("r2"), "echo two")
		same(t, "cancel", s.answer("c1"), "Nothing is running.")
	})
}

func TestACancelThatComesWhileTheFileIsWrittenIsAnswered(t *testing.T) {
	w := &world{GenerateFn: holdModel}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		w.ExportFn = func(context.Context, contract.ExportInput) (contract.ExportResult, error) {
			s.cancel("c1", "")
			return contract.ExportResult{}, nil
		}
		s.release("generate", says("one"), nil)
		s.rest()
		same(t, "answer", s.answer("r1"), "one")
		same(t, "cancel", s.answer("c1"), "Nothing is running.")
	})
}
