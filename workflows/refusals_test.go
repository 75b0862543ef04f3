package workflows_test

import (
	"fmt"
	"strings"
	"testing"

	"agent-stop-and-go/workflows/contract"
)

// predictedRefusal returns the predicted refusal of a signal, or the zero value.
func (s *session) predictedRefusal(q contract.ConversationQuery) contract.Request {
	s.t.Helper()
	q.RequestID = "asked"
	v := query[contract.ConversationView](s, contract.ConversationWorkflowID(conversationID), contract.QueryConversation, q)
	if v.Request == nil {
		return contract.Request{}
	}
	same(s.t, "foreseen", v.Request.Predicted, true)
	return *v.Request
}

var (
	aMessage = contract.ConversationQuery{Signal: contract.SignalMessage, Text: contract.Inline("x")}
	aCancel  = contract.ConversationQuery{Signal: contract.SignalCancel}
	aClose   = contract.ConversationQuery{Signal: contract.SignalClose}
)

func TestAConversationForeseesWhatItRefuses(t *testing.T) {
	w := &world{GenerateFn: script(asks(add("x")), says("Added."))}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		no := s.predictedRefusal(aMessage)
		same(t, "message", no.Refused, contract.KindWaiting)
		same(t, "approval", no.Result.Approval.UUID, s.pending().UUID)
		same(t, "cancel", s.predictedRefusal(aCancel), contract.Request{})
		same(t, "nothing remembered", s.request("asked"), contract.Request{})
		same(t, "counted", s.view().Refused, 0)
		s.say("r2", "all the same")
		s.rest()
		same(t, "last line", s.request("r2").Refused, contract.KindWaiting)
		same(t, "counted", s.view().Refused, 1)
		s.approve()
		s.rest()
		same(t, "message", s.predictedRefusal(aMessage), contract.Request{})
		same(t, "cancel", s.predictedRefusal(aCancel).Settled, true)
		same(t, "cancel", s.predictedRefusal(aCancel).Refused, "")
		same(t, "close", s.predictedRefusal(aClose), contract.Request{})
	})
}

func TestAFullQueueRefuses(t *testing.T) {
	s := converse(t, &world{GenerateFn: holdModel}, hello(), func(s *session) {
		s.rest()
		for n := range contract.MaxQueued - 1 {
			s.say(fmt.Sprint("q", n), "x")
		}
		s.rest()
		same(t, "with room for one", s.predictedRefusal(aMessage), contract.Request{})
		s.say("last", "x")
		s.say("over", "x")
		s.rest()
		same(t, "queued", s.view().Queued, contract.MaxQueued)
		same(t, "over", s.request("over").Refused, contract.KindBusy)
		s.unsettled("last")
		no := s.predictedRefusal(aMessage)
		same(t, "foreseen", no.Refused, contract.KindBusy)
		if !strings.Contains(no.Result.Response.Inline, "64") {
			t.Errorf("the text does not name the limit: %q", no.Result.Response.Inline)
		}
		same(t, "a cancel is taken", s.predictedRefusal(aCancel), contract.Request{})
		s.close("c", "")
		s.rest()
	})
	same(t, "ended", s.over, true)
}

func TestALongRunTakesNoMoreMessagesBehindItsQueue(t *testing.T) {
	w := &world{GenerateFn: holdModel}
	s := converse(t, w, hello(), func(s *session) {
		s.rest()
		s.env.SetCurrentHistoryLength(8_000)
		same(t, "empty queue", s.predictedRefusal(aMessage), contract.Request{})
		s.say("r2", "x")
		s.rest()
		same(t, "behind it", s.predictedRefusal(aMessage).Refused, contract.KindBusy)
		w.GenerateFn = echo
		s.release("generate", says("one"), nil)
		s.rest()
	})
	if _, ok := s.next(); !ok {
		t.Error("the run went on")
	}
}

func TestAMessageOverABoundIsRefused(t *testing.T) {
	converse(t, &world{}, hello(), func(s *session) {
		s.rest()
		s.message(contract.MessageSignal{RequestID: "token", Text: contract.Inline("x"), Credential: strings.Repeat("x", contract.MaxSealed+1)})
		s.message(contract.MessageSignal{RequestID: "files", Text: contract.Inline("x"), Media: make([]contract.Media, contract.MaxParts+1)})
		s.rest()
		same(t, "token", s.request("token").Refused, contract.KindTooLarge)
		same(t, "files", s.request("files").Refused, contract.KindTooLarge)
	})
}

func TestAQueueIsBoundedInBytes(t *testing.T) {
	large := func(id string) contract.MessageSignal {
		return contract.MessageSignal{RequestID: id, Text: contract.Inline(strings.Repeat("x", 60<<10))}
	}
	converse(t, &world{GenerateFn: holdModel}, hello(), func(s *session) {
		s.rest()
		for n := range 8 {
			s.message(large(fmt.Sprint("q", n)))
		}
		s.rest()
		same(t, "queued", s.view().Queued, 8)
		q := aMessage
		q.Size = 60 << 10
		same(t, "foreseen", s.predictedRefusal(q).Refused, contract.KindBusy)
		same(t, "a short one has room", s.predictedRefusal(aMessage), contract.Request{})
		s.message(large("over"))
		s.message(contract.MessageSignal{RequestID: "huge", Text: contract.Inline(strings.Repeat("x", contract.MaxMessage))})
		s.rest()
		same(t, "over", s.request("over").Refused, contract.KindBusy)
		same(t, "huge", s.request("huge").Refused, contract.KindTooLarge)
		s.close("c", "")
		s.rest()
	})
}

func manyCalls(n int) contract.GenerateResult {
	var calls []contract.Call
	for i := range n {
		calls = append(calls, list(fmt.Sprint(i)))
	}
	return asks(calls...)
}

func TestAReplyOfTooManyCallsIsToldOnce(t *testing.T) {
	long := list("x")
	long.Name = strings.Repeat("n", contract.MaxToolName+1)
	noted := contract.GenerateResult{Overrun: "the reply asks for 2500 calls: the limit is 128"}
	for name, bad := range map[string]contract.GenerateResult{
		"calls": manyCalls(contract.MaxCalls + 1), "name": asks(long), "activity": noted,
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{GenerateFn: script(bad, says("Less."))}
			converse(t, w, hello(), func(s *session) {
				s.rest()
				same(t, "answer", s.answer("r1"), "Less.")
				same(t, "told", s.world.prompts[1].Repair.Overrun, true)
				if !strings.Contains(s.world.prompts[1].Repair.Problem, "128") {
					t.Errorf("the model reads %q", s.world.prompts[1].Repair.Problem)
				}
				same(t, "calls", len(s.world.ran()), 0)
			})
			w = &world{GenerateFn: script(bad, bad, says("Next."))}
			converse(t, w, hello(), func(s *session) {
				s.rest()
				if got := s.answer("r1"); !strings.Contains(got, "128") || !strings.HasPrefix(got, "LLM error") {
					t.Errorf("answer %q", got)
				}
				s.say("r2", "again")
				s.rest()
				same(t, "next", s.answer("r2"), "Next.")
			})
		})
	}
}

func TestAReplyAtTheBoundIsCarriedOut(t *testing.T) {
	w := &world{GenerateFn: script(manyCalls(contract.MaxCalls), says("Done."))}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		same(t, "answer", s.answer("r1"), "Done.")
		same(t, "calls", len(s.world.ran()), contract.MaxCalls)
	})
}
