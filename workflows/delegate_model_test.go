package workflows_test

import (
	"context"
	"testing"

	"agent-stop-and-go/workflows/contract"
)

// delegationCall returns a model's call to another agent.
func delegationCall(name, message string, destructive bool) contract.Call {
	c := callOf("a2a_"+name, name, `{"message":"`+message+`"}`, destructive)
	c.Server, c.Peer = "", &contract.Peer{Name: name, URL: "http://" + name, Destructive: destructive}
	return c
}

func TestAModelMayDelegate(t *testing.T) {
	root := sequential("pipeline", llm("boss"))
	w := &world{
		GenerateFn: play(map[string][]any{"boss": {asks(delegationCall("writer", "write", false)), says("all done")}}),
		DelegateFn: answers(remote(contract.TaskCompleted, "written")),
	}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		same(t, "answer", s.answer("r1"), "all done")
		same(t, "model saw", lines(w.promptsOf("boss")[1].Transcript.Tail), []string{
			`call a2a_writer {"message":"write"}`, "result a2a_writer: written",
		})
	})
	same(t, "sent", sentTo(w), []string{`{"message":"write"}`})
}

func TestAModelsDelegationThatMayDestroyWaitsFirst(t *testing.T) {
	w := &world{GenerateFn: script(asks(delegationCall("writer", "write", true)), says("all done"))}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		same(t, "description", s.pending().Description, "**DELEGATE to A2A Agent: writer**\n\nMessage: write")
		same(t, "sent", len(read(w, &w.sent)), 0)
		s.decide(contract.DecideSignal{Approved: true, RequestID: "d1"})
		s.rest()
		same(t, "answer", s.answer("d1"), "all done")
	})
}

func TestAModelIsToldThatADelegationFailed(t *testing.T) {
	w := &world{GenerateFn: script(asks(delegationCall("writer", "write", false)), says("sorry")), DelegateFn: answers(fails(contract.KindModelAuth, "gone"))}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		same(t, "answer", s.answer("r1"), "sorry")
		same(t, "result", s.lines()[3], "failed a2a_writer: A2A error: gone")
	})
}

func TestARejectedDelegationOfAModelEndsTheTurn(t *testing.T) {
	w := &world{
		GenerateFn: script(asks(delegationCall("writer", "write", false)), says("unheard")),
		DelegateFn: answers(remote(contract.TaskInputRequired, "Sure?"), remote(contract.TaskCanceled, "kept")),
	}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		s.decide(contract.DecideSignal{RequestID: "d1"})
		s.rest()
		same(t, "answer", s.answer("d1"), "Operation cancelled by user.")
		same(t, "sent", sentTo(w), []string{`{"message":"write"}`, "rejected for task-1"})
		same(t, "asked", len(w.asked()), 1)
	})
}

// Both delegations of one reply run in parallel, and both agents ask.
func TestTwoAgentsMayAskAtATime(t *testing.T) {
	w := &world{
		GenerateFn: script(asks(delegationCall("writer", "write", false), delegationCall("reader", "read", false)), says("all done")),
		DelegateFn: func(_ context.Context, in contract.DelegateInput) (contract.DelegateResult, error) {
			if in.Decision == contract.Approved {
				return remote(contract.TaskCompleted, in.Peer.Name+" done"), nil
			}
			return remote(contract.TaskInputRequired, "May I, says "+in.Peer.Name), nil
		},
	}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		list := s.view().Pending
		same(t, "waiting", len(list), 2)
		r := s.request("r1").Result
		same(t, "answer asks for", r.Response.Inline[len(r.Response.Inline)-36:], r.Approval.UUID)
		s.decideOn(list[1].UUID, contract.DecideSignal{Approved: true, RequestID: "d2"})
		s.rest()
		d2 := s.request("d2")
		same(t, "the decision is settled while the other waits", d2.Settled && d2.Result.WaitingApproval, true)
		s.decideOn(list[0].UUID, contract.DecideSignal{Approved: true, RequestID: "d1"})
		s.rest()
		same(t, "answer", s.answer("d1"), "all done")
	})
}
