package workflows_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
)

// next returns the input of the next run, and whether there is one.
func (s *session) next() (contract.ConversationInput, bool) {
	s.t.Helper()
	var continued *workflow.ContinueAsNewError
	var in contract.ConversationInput
	if !errors.As(s.env.GetWorkflowError(), &continued) {
		return in, false
	}
	same(s.t, "next workflow", continued.WorkflowType.Name, contract.WorkflowConversation)
	if err := converter.GetDefaultDataConverter().FromPayloads(continued.Input, &in); err != nil {
		s.t.Fatalf("decode the next run's input: %v", err)
	}
	return in, true
}

func TestALongRunContinuesAsNewBetweenTurns(t *testing.T) {
	for name, grow := range map[string]func(*session){
		"events":          func(s *session) { s.env.SetCurrentHistoryLength(8_000) },
		"bytes":           func(s *session) { s.env.SetCurrentHistorySize(2 << 20) },
		"server suggests": func(s *session) { s.env.SetContinueAsNewSuggested(true) },
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{GenerateFn: holdModel}
			s := converse(t, w, hello(), func(s *session) {
				s.rest()
				grow(s)
				s.rest()
				s.unsettled("r1")
				s.release("generate", says("Hi."), nil)
				s.rest()
			})
			if _, ok := s.next(); !ok {
				t.Errorf("the run went on; it ended with %v", s.env.GetWorkflowError())
			}
		})
	}
}

func TestAShortRunGoesOn(t *testing.T) {
	s := converse(t, &world{}, hello(), func(s *session) {
		s.env.SetCurrentHistoryLength(3_999)
		s.env.SetCurrentHistorySize(1<<20 - 1)
		s.say("r2", "two")
		s.rest()
		s.env.SetCurrentHistoryLength(7_999)
		s.env.SetCurrentHistorySize(2<<20 - 1)
		s.rest()
	})
	same(t, "status", s.result().Status, contract.StatusCompleted)
}

func TestALongRunDoesNotEndWhileAnApprovalWaits(t *testing.T) {
	w := &world{GenerateFn: script(asks(add("x")), says("Added."))}
	s := converse(t, w, hello(), func(s *session) {
		s.env.SetCurrentHistoryLength(50_000)
		s.rest()
		s.pending()
		s.say("r2", "refused")
		s.rest()
		same(t, "over", s.over, false)
		s.approve()
		s.rest()
	})
	in, ok := s.next()
	if !ok {
		t.Fatal("the run went on after the turn")
	}
	end := in.Carried.Transcript.Tail
	same(t, "end of the transcript", line(end[len(end)-1]), "assistant: Added.")
}

func TestALongRunLeavesItsQueueToTheNext(t *testing.T) {
	w := &world{GenerateFn: holdModel}
	s := converse(t, w, hello(), func(s *session) {
		s.say("r2", "two")
		s.rest()
		s.env.SetCurrentHistoryLength(8_000)
		w.GenerateFn = echo
		s.release("generate", says("one"), nil)
		s.rest()
	})
	in, ok := s.next()
	if !ok {
		t.Fatal("the run went on")
	}
	same(t, "queue", len(in.Carried.Queue), 1)
	converse(t, &world{GenerateFn: echo}, in, func(s *session) {
		s.rest()
		same(t, "answer", s.answer("r2"), "echo two")
		same(t, "transcript", s.lines()[2:], []string{"assistant: one", "user: two", "assistant: echo two"})
		s.say("r2", "again") // known
		s.rest()
		same(t, "turns", len(s.lines()), 5)
	})
}

func TestAMessageToARunThatGrewLongIsForTheNext(t *testing.T) {
	for name, grow := range map[string]func(*session){
		"events": func(s *session) { s.env.SetCurrentHistoryLength(4_000) },
		"bytes":  func(s *session) { s.env.SetCurrentHistorySize(1 << 20) },
	} {
		t.Run(name, func(t *testing.T) {
			s := converse(t, &world{GenerateFn: echo}, hello(), func(s *session) {
				s.rest()
				grow(s)
				s.rest()
				same(t, "over", s.over, false) // an idle conversation does not continue as new
				s.say("r2", "two")
				s.rest()
			})
			in, ok := s.next()
			if !ok {
				t.Fatal("the run went on")
			}
			same(t, "queue", in.Carried.Queue[0].RequestID, "r2")
		})
	}
}

func TestARunHasOneTurnHoweverLongItIs(t *testing.T) {
	s := converse(t, &world{GenerateFn: echo}, silent(), func(s *session) {
		s.env.SetCurrentHistoryLength(7_000)
		s.say("r1", "one")
		s.say("r2", "two")
		s.rest()
	})
	in, _ := s.next()
	same(t, "turns", in.Carried.Turn, 1)
	same(t, "queue", len(in.Carried.Queue), 1)
}

func TestACancelThatArrivesWithAMessageStopsItsTurn(t *testing.T) {
	converse(t, &world{GenerateFn: echo}, hello(), func(s *session) {
		s.rest()
		s.env.SetCurrentHistoryLength(4_000)
		s.world.GenerateFn = holdModel
		s.env.SignalWorkflowSkippingWorkflowTask(contract.SignalMessage, contract.MessageSignal{RequestID: "r2", Text: contract.Inline("two")})
		s.cancel("c1", "Enough.")
		s.rest()
		same(t, "cancelled", s.view().Last.Outcome, contract.OutcomeCancelled)
	})
}

func TestTheNextRunKnowsEverything(t *testing.T) {
	head := contract.Head{Blob: contract.NewBlob([]byte("older messages")), Count: 2}
	folding := asks(list("a"))
	folding.Offloaded = &contract.Offloaded{Head: head, Count: 2}
	w := &world{GenerateFn: script(folding, says("Done."))}
	start := hello()
	start.First.Fingerprint = "f1"
	var before contract.ConversationView
	s := converse(t, w, start, func(s *session) {
		s.rest()
		before = s.view()
		s.cancel("c1", "")
		s.rest()
		s.env.SetCurrentHistoryLength(8_000)
		s.rest()
	})
	in, ok := s.next()
	if !ok {
		t.Fatal("the run went on")
	}
	if in.First != nil {
		t.Errorf("the first message is carried along: %+v", in.First)
	}
	same(t, "agent", in.Agent, start.Agent)
	same(t, "session", in.SessionID, "sid-1")
	same(t, "turns", in.Carried.Turn, 1)

	again := &world{GenerateFn: echo}
	s = converse(t, again, in, func(s *session) {
		s.rest()
		same(t, "conversation", s.view(), before)
		same(t, "first request", s.request("r1").Fingerprint, "f1")
		same(t, "first answer", s.answer("r1"), "Done.")
		same(t, "cancel", s.answer("c1"), "Nothing is running.")
		s.say("r1", "again") // known
		s.say("r2", "two")
		s.rest()
		same(t, "transcript", s.lines()[3:], []string{"user: two", "assistant: echo two"})
		seen := map[string]bool{}
		for _, m := range s.view().Transcript.Tail {
			if seen[m.ID] {
				t.Errorf("message id %s is used twice", m.ID)
			}
			seen[m.ID] = true
		}
		if v := s.view().Version; v <= before.Version {
			t.Errorf("version %d after %d", v, before.Version)
		}
	})
	same(t, "turns", s.result().Turns, 2)
	same(t, "usage", s.result().Usage, contract.Usage{InputTokens: 40, OutputTokens: 8, CachedTokens: 1})
	same(t, "model saw", read(again, &again.prompts)[0].Transcript.Head, &head)
}

func TestAnExportThatIsOwingIsOwedByTheNextRun(t *testing.T) {
	disk := &diskFull{full: true}
	w := &world{ExportFn: disk.export, GenerateFn: holdModel}
	s := converse(t, w, hello(), func(s *session) {
		s.rest()
		s.env.SetCurrentHistoryLength(8_000)
		s.release("generate", says("Hi."), nil)
		s.rest()
	})
	in, _ := s.next()
	same(t, "owing", in.Carried.ExportOwing, true)
	again := &world{}
	converse(t, again, in, func(s *session) {
		s.sleep(timeToRetry)
		same(t, "file", lines(again.exported().Transcript.Tail), []string{"system: Be brief.", "user: hello", "assistant: Hi."})
	})
}

func TestASignalThatArrivesAtTheRollOverIsHandledFirst(t *testing.T) {
	tests := map[string]struct {
		signal string
		input  any
		after  func(*testing.T, *session)
	}{
		"message": {contract.SignalMessage, contract.MessageSignal{RequestID: "late", Text: contract.Inline("two")}, func(t *testing.T, s *session) {
			in, _ := s.next()
			same(t, "queue", in.Carried.Queue[0].RequestID, "late")
		}},
		"cancel": {contract.SignalCancel, contract.CancelSignal{RequestID: "late"}, func(t *testing.T, s *session) {
			in, _ := s.next()
			last := in.Carried.Requests[len(in.Carried.Requests)-1]
			same(t, "request", last.ID, "late")
			same(t, "settled", last.Settled, true)
		}},
		"close": {contract.SignalClose, contract.CloseSignal{RequestID: "late"}, func(t *testing.T, s *session) {
			same(t, "status", s.result().Status, contract.StatusCompleted)
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{GenerateFn: holdModel}
			s := converse(t, w, hello(), func(s *session) {
				s.rest()
				s.env.SetCurrentHistoryLength(8_000)
				w.GenerateFn = echo
				w.ExportFn = func(_ context.Context, in contract.ExportInput) (contract.ExportResult, error) {
					if in.Conversation.Transcript.Len() == 3 { // delivered with the end of the turn
						s.env.SignalWorkflowSkippingWorkflowTask(tt.signal, tt.input)
					}
					return contract.ExportResult{}, nil
				}
				s.release("generate", says("one"), nil)
				s.rest()
			})
			tt.after(t, s)
		})
	}
}

func TestWaitersAreReleasedAtTheRollOver(t *testing.T) {
	w := &world{GenerateFn: holdModel}
	var answered, other *awaitCaller
	s := converse(t, w, hello(), func(s *session) {
		s.rest()
		answered, other = s.await("r1"), s.await("later")
		s.env.SetCurrentHistoryLength(8_000)
		s.release("generate", says("Hi."), nil)
		s.rest()
	})
	if _, ok := s.next(); !ok {
		t.Fatal("the run went on")
	}
	same(t, "answered", answered.ids(), []string{"r1"})
	same(t, "the other is done", other.done, true)
	same(t, "the other learns nothing and asks again", other.ids(), nil)
}

func TestWaitersAloneMakeARunLongEnough(t *testing.T) {
	s := converse(t, &world{}, hello(), func(s *session) {
		s.rest()
		for range 1_000 {
			s.await("r1")
			if s.rest(); s.over {
				break
			}
		}
	})
	if _, ok := s.next(); !ok {
		t.Error("after 1000 updates the run goes on, and the server ends it at 2000")
	}
}

func TestAnIdleRunThatGrewLongContinuesAsNew(t *testing.T) {
	s := converse(t, &world{}, hello(), func(s *session) {
		s.rest()
		s.env.SetCurrentHistoryLength(8_000)
		s.await("unknown")
		s.rest()
		same(t, "over", s.over, true)
	})
	if _, ok := s.next(); !ok {
		t.Error("the run goes on")
	}
}

func TestManyTurnsInManyRunsLoseNothing(t *testing.T) {
	in, turns := silent(), 0
	for range 6 {
		s := converse(t, &world{GenerateFn: echo}, in, func(s *session) {
			for range 50 {
				s.say(fmt.Sprint("r", turns), fmt.Sprint("m", turns))
				turns++
			}
			s.rest()
			s.env.SetCurrentHistoryLength(8_000)
			s.rest()
		})
		next, ok := s.next()
		if !ok {
			t.Fatal("the run went on")
		}
		in = next
	}
	same(t, "turns", in.Carried.Turn, turns)
	same(t, "messages", in.Carried.Transcript.Len(), 2*turns+1)
	if n := len(in.Carried.Requests); n < contract.RememberedRequests {
		t.Errorf("the next run remembers %d requests", n)
	}
	for i, m := range in.Carried.Transcript.Tail[1:] {
		want := fmt.Sprint("user: m", i/2)
		if i%2 == 1 {
			want = fmt.Sprint("assistant: echo m", i/2)
		}
		if got := line(m); got != want {
			t.Fatalf("message %d is %q, expected %q", i+1, got, want)
		}
	}
}
