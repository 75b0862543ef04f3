package workflows_test

import (
	"context"
	"testing"

	"agent-stop-and-go/workflows/contract"
)

const formerApproval = "5b0c0f6e-2d3a-4a4f-8a39-6e9b1f1a2b02"

// moved returns a conversation that waited in another system.
func moved() contract.ConversationInput {
	in := silent()
	in.Carried = &contract.Carried{
		Seq: 9, Version: 1,
		Transcript: contract.Transcript{Tail: []contract.Message{
			{ID: "m1", Role: contract.RoleUser, Content: contract.Inline("add x")},
		}},
		Requests:    []contract.Request{{ID: "r1"}},
		Queue:       []contract.MessageSignal{{RequestID: "r1", Text: contract.Inline("add x")}},
		Transferred: contract.JSON{Raw: []byte(`{"calls":[{"name":"resources_add","arguments":{"name":"x","value":1}}]}`)},
	}
	return in
}

// transfers returns calls for a transferred reply, and then what the model says.
func transfers(c contract.Call, then string) func(context.Context, contract.GenerateInput) (contract.GenerateResult, error) {
	return func(_ context.Context, in contract.GenerateInput) (contract.GenerateResult, error) {
		if in.Transferred.IsZero() {
			return says(then), nil
		}
		return contract.GenerateResult{Calls: []contract.Call{c}, DraftID: in.DraftID}, nil
	}
}

func TestAConversationThatIsMovedHereGoesOnWithItsApproval(t *testing.T) {
	c := add("x")
	c.Approval = formerApproval
	w := &world{GenerateFn: transfers(c, "Added.")}
	converse(t, w, moved(), func(s *session) {
		s.rest()
		same(t, "approval", s.pending().UUID, formerApproval)
		same(t, "answer to the message", s.request("r1").Result.WaitingApproval, true)
		same(t, "calls before the decision", len(read(w, &w.calls)), 0)
		s.approve()
		s.rest()
		same(t, "calls", len(read(w, &w.calls)), 1)
		same(t, "messages of the user", s.lines()[0], "user: add x")
		same(t, "end", s.lines()[len(s.lines())-1], "assistant: Added.")
		prompts := read(w, &w.prompts)
		same(t, "requests to the model", len(prompts), 2)
		same(t, "calls in the second", prompts[1].Transferred.IsZero(), true)
		s.say("r2", "go on")
		s.rest()
		same(t, "later message", s.lines()[len(s.lines())-2], "user: go on")
	})
}

func TestARejectedCallOfAMovedConversationDoesNotRun(t *testing.T) {
	w := &world{GenerateFn: transfers(add("x"), "")}
	converse(t, w, moved(), func(s *session) {
		s.rest()
		s.reject()
		s.rest()
		same(t, "calls", len(read(w, &w.calls)), 0)
		same(t, "outcome", s.view().Last.Outcome, contract.OutcomeRejected)
	})
}

// The other agent has the message already: it is only asked about its task.
func TestATaskThatAMovedConversationWaitsForIsNotSentAgain(t *testing.T) {
	c := callOf("a2a_remote", "1", `{"message":"add x"}`, false)
	c.Peer, c.Task = &contract.Peer{Name: "remote", URL: "http://remote"}, "task-1"
	w := &world{GenerateFn: transfers(c, "Done there."), DelegateFn: func(_ context.Context, in contract.DelegateInput) (contract.DelegateResult, error) {
		same(t, "task", in.TaskID, "task-1")
		if in.Decision == "" {
			return contract.DelegateResult{TaskID: "task-1", State: contract.TaskInputRequired, Text: contract.Inline("Add x?")}, nil
		}
		return contract.DelegateResult{TaskID: "task-1", State: contract.TaskCompleted, Text: contract.Inline("added")}, nil
	}}
	converse(t, w, moved(), func(s *session) {
		s.rest()
		same(t, "reason", s.pending().Reason, contract.ReasonRemote)
		s.approve()
		s.rest()
		for _, in := range read(w, &w.sent) {
			if in.MessageID != "" && in.Decision == "" {
				t.Errorf("sent %+v", in)
			}
		}
		same(t, "end", s.lines()[len(s.lines())-1], "assistant: Done there.")
	})
}
