package workflows_test

import (
	"context"
	"fmt"
	"testing"

	"agent-stop-and-go/workflows/contract"
)

func TestAwaitSettledReturnsWhatHasSettledAlready(t *testing.T) {
	converse(t, &world{GenerateFn: echo}, hello(), func(s *session) {
		s.rest()
		caller := s.await("unknown", "r1")
		s.rest()
		same(t, "released", caller.ids(), []string{"r1"})
	})
}

func TestAwaitSettledWaitsForAnyOfItsRequests(t *testing.T) {
	w := &world{GenerateFn: holdModel}
	converse(t, w, hello(), func(s *session) {
		s.say("r2", "two")
		caller := s.await("r1", "r2")
		s.rest()
		same(t, "accepted", caller.accepted, true)
		same(t, "done", caller.done, false)
		s.release("generate", says("one"), nil)
		s.rest()
		same(t, "released", caller.ids(), []string{"r1"})
		s.release("generate", says("two"), nil)
		s.rest()
	})
}

func TestAwaitSettledRefusesWhatMakesNoSense(t *testing.T) {
	many := make([]string, 257)
	for i := range many {
		many[i] = fmt.Sprint("r", i)
	}
	for name, ids := range map[string][]string{"nothing": nil, "an empty id": {"r1", ""}, "too many": many} {
		t.Run(name, func(t *testing.T) {
			converse(t, &world{}, silent(), func(s *session) {
				caller := s.await(ids...)
				s.rest()
				if caller.rejected == nil || caller.accepted {
					t.Errorf("accepted=%v rejected=%v", caller.accepted, caller.rejected)
				}
			})
		})
	}
}

func TestAnUnknownRequestIsAwaitedUntilItComes(t *testing.T) {
	converse(t, &world{GenerateFn: echo}, silent(), func(s *session) {
		caller := s.await("r1")
		s.rest()
		same(t, "done", caller.done, false)
		s.say("r1", "here")
		s.rest()
		same(t, "released", caller.ids(), []string{"r1"})
		same(t, "answer", caller.result.Settled[0].Result.Response.Inline, "echo here")
	})
}

func TestTheOldestWaiterIsReleasedWhenThereAreTooMany(t *testing.T) {
	converse(t, &world{GenerateFn: echo}, silent(), func(s *session) {
		var callers []*awaitCaller
		for range 8 {
			callers = append(callers, s.await("r1"))
		}
		s.rest()
		for i, c := range callers {
			if gone := i < 2; c.done != gone {
				t.Errorf("waiter %d: done=%v", i, c.done)
			}
		}
		same(t, "what a released one learns", callers[0].ids(), nil)
		s.say("r1", "here")
		s.rest()
		for _, c := range callers[2:] {
			same(t, "released", c.ids(), []string{"r1"})
		}
	})
}

func TestWaitersThatWereAnsweredMakeRoom(t *testing.T) {
	converse(t, &world{GenerateFn: echo}, silent(), func(s *session) {
		for i := range 5 {
			s.await(fmt.Sprint("r", i))
		}
		s.rest()
		for i := range 5 {
			s.say(fmt.Sprint("r", i), "x")
		}
		s.rest()
		var callers []*awaitCaller
		for range 6 {
			callers = append(callers, s.await("late"))
		}
		s.rest()
		for i, c := range callers {
			same(t, fmt.Sprint("waiter ", i, " done"), c.done, false)
		}
	})
}

func TestClosingTellsEveryWaiterThatNothingMoreComes(t *testing.T) {
	var caller *awaitCaller
	converse(t, &world{}, silent(), func(s *session) {
		caller = s.await("never", "sent")
		s.rest()
		s.close("x1", "")
		s.rest()
	})
	same(t, "released", caller.ids(), []string{"never", "sent"})
	for _, r := range caller.result.Settled {
		same(t, "refused", r.Refused, contract.KindCompleted)
		same(t, "response", r.Result.Response.Inline, "Conversation is completed.")
	}
	same(t, "status", caller.result.Conversation.Status, contract.StatusCompleted)
}

func TestAWaiterReleasedWhileTheConversationClosesIsNotToldThatItIsOver(t *testing.T) {
	w := &world{}
	var first *awaitCaller
	converse(t, w, silent(), func(s *session) {
		s.rest()
		first = s.await("x1")
		s.rest()
		w.ExportFn = func(context.Context, contract.ExportInput) (contract.ExportResult, error) {
			for range 6 {
				s.await("x1")
			}
			return contract.ExportResult{}, nil
		}
		s.close("x1", "")
		s.rest()
	})
	same(t, "released", first.ids(), nil) // its next update returns that its request was settled
}

func TestCancellingTheWorkflowDoesNotFailItsWaiters(t *testing.T) {
	w := &world{GenerateFn: holdModel}
	var caller *awaitCaller
	converse(t, w, hello(), func(s *session) {
		caller = s.await("r1")
		s.rest()
		s.env.CancelWorkflow()
		s.rest()
	})
	same(t, "released", caller.ids(), []string{"r1"})
	same(t, "answer", caller.result.Settled[0].Result.Response.Inline, "The turn was cancelled. the workflow was cancelled")
}

func TestWaitingForWhatIsNotAnsweredLeavesATraceSixteenTimes(t *testing.T) {
	w := &world{GenerateFn: script(asks(add("x")), says("Added."))}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		s.pending()
		accepted := 0
		for range 100 {
			c := s.await("later")
			s.rest()
			switch {
			case c.accepted:
				accepted++
			case c.rejected == nil:
				t.Fatal("neither accepted nor refused")
			}
		}
		same(t, "accepted", accepted, 16)
		answered := s.await("r1")
		s.rest()
		same(t, "what is answered can be awaited", answered.ids(), []string{"r1"})
		s.approve()
		s.rest()
		afterwards := s.await("later")
		s.rest()
		same(t, "afterwards", afterwards.accepted, true)
	})
}
