package workflows_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
)

// publishedStates lists the states that a conversation has signalled.
func (s *session) publishedStates() (out []contract.TaskState) {
	for _, m := range read(s.world, &s.world.marks) {
		if _, state, ok := strings.Cut(m, "task "+pushID+" "); ok {
			out = append(out, contract.TaskState(state))
		}
	}
	return out
}

// recordPushSignals records the states that a conversation signals.
func recordPushSignals(s *session) {
	s.seen.SignalFn = func(workflowID, name string, arg any) error {
		s.world.mark(fmt.Sprint(name, " ", workflowID, " ", arg.(contract.PushState).State))
		return &temporal.UnknownExternalWorkflowExecutionError{} // a missing receiver is not an error
	}
}

// converseWithPush is converse for a conversation with a Push.
func converseWithPush(t *testing.T, w *world, in contract.ConversationInput, body func(*session)) *session {
	t.Helper()
	s := newSession(t, w, contract.ConversationWorkflowID(in.ID))
	recordPushSignals(s)
	s.run(contract.WorkflowConversation, in, body, func() { s.close("", "") })
	return s
}

func TestAConversationTellsItsStates(t *testing.T) {
	in := hello()
	in.Notify = true
	s := converseWithPush(t, &world{GenerateFn: script(asks(add("web-1")), says("Done."))}, in, func(s *session) {
		s.rest()
		s.approve()
		s.rest()
	})
	got := s.publishedStates()
	if want := states(working, needsInput, working); len(got) < 4 || !slices.Equal(got[:3], want) {
		t.Errorf("told %v, expected to begin with %v", got, want)
	}
	same(t, "the last before it ended", got[len(got)-1].Over(), true)
}

func TestAConversationTellsOnlyThoseWhoFollow(t *testing.T) {
	s := converseWithPush(t, &world{GenerateFn: echo}, hello(), func(s *session) {
		s.rest()
		same(t, "told", s.publishedStates(), nil)
		s.env.SignalWorkflow(contract.SignalFollow, nil)
		s.rest()
		same(t, "told", s.publishedStates(), states(s.view().TaskState()))
		s.env.SignalWorkflow(contract.SignalFollow, nil)
		s.rest()
		same(t, "told again", len(s.publishedStates()), 2)
	})
	got := s.publishedStates()
	same(t, "the last before it ended", got[len(got)-1].Over(), true)
}

func TestAFollowedConversationIsFollowedInItsNextRun(t *testing.T) {
	s := converseWithPush(t, &world{GenerateFn: echo}, hello(), func(s *session) {
		s.rest()
		s.env.SignalWorkflow(contract.SignalFollow, nil)
		s.rest()
		s.env.SetCurrentHistoryLength(9_000)
		s.rest()
	})
	var again *workflow.ContinueAsNewError
	if !errors.As(s.env.GetWorkflowError(), &again) {
		t.Fatalf("it did not continue as new: %v", s.env.GetWorkflowError())
	}
	var next contract.ConversationInput
	if err := json.Unmarshal(again.Input.GetPayloads()[0].GetData(), &next); err != nil {
		t.Fatal(err)
	}
	same(t, "followed", next.Carried.Notify, true)
	same(t, "told before it ended", len(s.publishedStates()), 1)
}
