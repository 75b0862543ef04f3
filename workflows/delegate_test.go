package workflows_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"agent-stop-and-go/workflows/contract"
)

// answers returns another agent that gives these answers one after the other; an error among
// them fails the delegation. Polls of a waiting task see no change.
func answers(list ...any) func(context.Context, contract.DelegateInput) (contract.DelegateResult, error) {
	var mu sync.Mutex
	var last contract.DelegateResult
	return func(_ context.Context, in contract.DelegateInput) (contract.DelegateResult, error) {
		mu.Lock()
		defer mu.Unlock()
		if isLook(in) && last.State == contract.TaskInputRequired {
			return last, nil
		}
		if len(list) == 0 {
			return contract.DelegateResult{}, fails(contract.KindInternal, "the other agent has nothing more to say")
		}
		next := list[0]
		list = list[1:]
		if err, ok := next.(error); ok {
			return contract.DelegateResult{}, err
		}
		last = next.(contract.DelegateResult)
		return last, nil
	}
}

func isLook(in contract.DelegateInput) bool {
	return in.TaskID != "" && in.Decision == "" && !in.Cancel
}

// sentMessages returns the messages sent to the other agent, without polls.
func sentMessages(w *world) []contract.DelegateInput {
	return slices.DeleteFunc(read(w, &w.sent), isLook)
}

// countPolls counts the polls of the task.
func countPolls(w *world) int { return len(read(w, &w.sent)) - len(sentMessages(w)) }

func remote(state contract.TaskState, text string) contract.DelegateResult {
	return contract.DelegateResult{State: state, TaskID: "task-1", Text: contract.Inline(text)}
}

// ask returns a node that delegates its prompt to the agent writer.
func ask(text string, keys ...string) contract.Node {
	return contract.Node{
		Name: "ask", Type: contract.NodeA2A, OutputKey: "asked", Prompt: contract.Inline(text), Keys: keys,
		Peer: &contract.Peer{Name: "writer", URL: "http://writer"},
	}
}

func destructive(n *contract.Node) {
	p := *n.Peer
	p.Destructive = true
	n.Peer = &p
}

// sequenceWith returns a sequence with the node n in its middle.
func sequenceWith(n contract.Node) contract.Node {
	return sequential("pipeline", llm("find", key("found")), n, llm("tell", prompt("tell {asked}", "asked")))
}

func sentTo(w *world) (out []string) {
	for _, in := range sentMessages(w) {
		switch {
		case in.Cancel:
			out = append(out, "cancel "+in.TaskID)
		case in.Decision != "":
			out = append(out, string(in.Decision)+" for "+in.TaskID)
		default:
			out = append(out, string(in.Arguments.Raw))
		}
	}
	return out
}

func TestAnAgentThatOnlyDelegatesPassesTheMessageOn(t *testing.T) {
	root := ask("")
	root.Prompt = contract.Text{}
	w := &world{DelegateFn: answers(remote(contract.TaskCompleted, "written"))}
	s := converse(t, w, tree(root), func(s *session) {
		s.rest()
		same(t, "answer", s.answer("r1"), "written")
		same(t, "transcript", s.lines(), []string{
			"user: hello", `call a2a_writer {"message":"hello"}`, "result a2a_writer: written", "assistant: written",
		})
		same(t, "states", s.states(), "ask:done")
	})
	same(t, "workflows", len(s.seen.nodes), 0)
	sent := read(w, &w.sent)[0]
	same(t, "to", sent.Peer.URL, "http://writer")
	same(t, "for", sent.SessionID, "sid-1")
	same(t, "digest", sent.SHA256, contract.Hash([]byte(`{"message":"hello"}`)))
	same(t, "summary", s.seen.options(contract.ActivityDelegate.Name).Summary, "delegate to writer")
}

func TestAnAgentThatOnlyDelegatesWaitsForTheOtherAgentsApproval(t *testing.T) {
	w := &world{DelegateFn: answers(remote(contract.TaskInputRequired, "Delete it?"), remote(contract.TaskCompleted, "deleted"))}
	converse(t, w, tree(ask("delete it")), func(s *session) {
		s.rest()
		same(t, "description", s.pending().Description, "**PROXY APPROVAL — A2A Agent: writer**\n\nDelete it?")
		s.decide(contract.DecideSignal{Approved: true, RequestID: "d1"})
		s.rest()
		same(t, "answer", s.answer("d1"), "deleted")
		same(t, "sent", sentTo(w), []string{`{"message":"delete it"}`, "approved for task-1"})
	})
}

func TestADelegationsResultIsTheNodesOutput(t *testing.T) {
	w := &world{GenerateFn: play(nil), DelegateFn: answers(remote(contract.TaskCompleted, "written"))}
	converse(t, w, tree(sequenceWith(ask("write {found} for {user_message}, {nothing}", "found", "user_message"))), func(s *session) {
		s.rest()
		same(t, "answer", s.answer("r1"), "tell written")
		same(t, "transcript", lines(s.messages()), []string{
			"user: hello", "assistant: [find] find", `call a2a_writer {"message":"write find for hello, {nothing}"}`,
			"result a2a_writer: written", "assistant: [ask] written", "assistant: [tell] tell written",
		})
		s.checkUsable()
	})
}

func TestADelegationThatFailsBecomesTextAndTheNextNodeRuns(t *testing.T) {
	noted := remote(contract.TaskFailed, "no paper")
	noted.Note = "after two attempts"
	for name, tt := range map[string]struct {
		answer any
		text   string
	}{
		"failed":             {noted, "no paper"},
		"failed, speechless": {contract.DelegateResult{State: contract.TaskFailed}, "A2A error: the task ended as failed."},
		"rejected":           {remote(contract.TaskRejected, "not my task"), "not my task"},
		"canceled":           {remote(contract.TaskCanceled, "stopped"), "stopped"},
		"unreachable":        {fails(contract.KindModelAuth, "connection refused"), "A2A error: connection refused"},
		"no answer":          {timedOut(), "A2A error: no answer in time."},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{GenerateFn: play(nil), DelegateFn: answers(tt.answer, tt.answer, tt.answer)}
			converse(t, w, tree(sequenceWith(ask("write"))), func(s *session) {
				s.rest()
				s.rest()
				same(t, "answer", s.answer("r1"), "tell ")
				same(t, "transcript", lines(s.messages())[3:5], []string{
					"failed a2a_writer: " + tt.text, "assistant: [ask] " + tt.text,
				})
				same(t, "states", s.states(), "pipeline:done[find:done ask:failed tell:done]")
				s.checkUsable()
			})
		})
	}
}

func TestADelegationIsTriedAgainUnderTheSameID(t *testing.T) {
	w := &world{GenerateFn: play(nil), DelegateFn: answers(
		fails(contract.KindInternal, "busy"), remote(contract.TaskInputRequired, "Sure?"),
		fails(contract.KindInternal, "busy"), remote(contract.TaskInputRequired, "Really?"),
		remote(contract.TaskCompleted, "written"),
	)}
	converse(t, w, tree(sequenceWith(ask("write"))), func(s *session) {
		s.rest()
		s.approve()
		s.rest()
		s.decide(contract.DecideSignal{Approved: true, RequestID: "d2"})
		s.rest()
		same(t, "answer", s.answer("d2"), "tell written")
	})
	sent := sentMessages(w)
	same(t, "sent", len(sent), 5)
	id := func(i int) string { return sent[i].MessageID }
	if id(0) != id(1) || id(2) != id(3) || id(0) == id(2) || id(2) == id(4) || id(0) == id(4) {
		t.Errorf("message ids: %s %s %s %s %s", id(0), id(1), id(2), id(3), id(4))
	}
}

func TestTheOtherAgentMayAskAgainAndAgain(t *testing.T) {
	w := &world{GenerateFn: play(nil), DelegateFn: answers(
		remote(contract.TaskInputRequired, "Delete a?"), remote(contract.TaskInputRequired, "Delete b?"),
		remote(contract.TaskCompleted, "both deleted"),
	)}
	s := converse(t, w, tree(sequenceWith(ask("clean up"))), func(s *session) {
		s.rest()
		first := s.pending()
		same(t, "description", first.Description, "[ask] Proxy approval for A2A agent: writer\n\nDelete a?")
		same(t, "task", first.RemoteTaskID, "task-1")
		same(t, "agent", first.RemoteAgentName, "writer")
		same(t, "tool", first.ToolName, "a2a_writer")
		same(t, "arguments", string(first.ToolArgs.Raw), `{"message":"clean up"}`)
		same(t, "reason", first.Reason, contract.ReasonRemote)
		same(t, "node", first.Node, "ask")
		v := s.view()
		same(t, "pipeline", *v.Pipeline, contract.PipelineState{
			Path: []int{1}, OutputKey: "asked", UserMessage: contract.Inline("hello"),
			State: contract.State{{Key: "found", Text: contract.Inline("find")}},
		})
		same(t, "answer", s.request("r1").Result.WaitingApproval, true)
		s.decide(contract.DecideSignal{Approved: true, RequestID: "d1"})
		s.rest()
		second := s.pending()
		same(t, "description", second.Description, "[ask] Proxy approval for A2A agent: writer\n\nDelete b?")
		same(t, "another approval", second.UUID != first.UUID, true)
		same(t, "still waiting", s.request("d1").Result.WaitingApproval, true)
		same(t, "for the second", s.request("d1").Result.Approval.UUID, second.UUID)
		s.decide(contract.DecideSignal{Approved: true, RequestID: "d2"})
		s.rest()
		same(t, "answer", s.answer("d2"), "tell both deleted")
		s.checkUsable()
	})
	same(t, "sent", sentTo(w)[:3], []string{`{"message":"clean up"}`, "approved for task-1", "approved for task-1"})
	same(t, "reason", s.seen.children[0].Input.Reason, contract.ReasonRemote)
}

func TestTheOtherAgentIsToldOfARejection(t *testing.T) {
	w := &world{GenerateFn: play(nil), DelegateFn: answers(remote(contract.TaskInputRequired, "Delete a?"), remote(contract.TaskCanceled, "kept"))}
	converse(t, w, tree(sequenceWith(ask("clean up"))), func(s *session) {
		s.rest()
		s.decide(contract.DecideSignal{RequestID: "d1"})
		s.rest()
		same(t, "sent", sentTo(w), []string{`{"message":"clean up"}`, "rejected for task-1"})
		same(t, "answer", s.answer("d1"), "Operation cancelled by user.\n\nDone: find.\n\nNot done: ask (rejected), tell (skipped).")
		s.checkUsable()
	})
}

func TestARejectionStandsAlsoWhereTheOtherAgentCannotBeTold(t *testing.T) {
	gone := fails(contract.KindModelAuth, "connection refused")
	w := &world{GenerateFn: play(nil), DelegateFn: answers(remote(contract.TaskInputRequired, "Delete a?"), gone)}
	converse(t, w, tree(sequenceWith(ask("clean up"))), func(s *session) {
		s.rest()
		s.decide(contract.DecideSignal{RequestID: "d1"})
		s.rest()
		same(t, "answer", s.answer("d1"), "Operation cancelled by user.\n\nDone: find.\n\nNot done: ask (rejected), tell (skipped).")
		var note string
		for _, m := range s.messages() {
			if m.Role == contract.RoleTool {
				note = m.ToolCall.Note
			}
		}
		same(t, "note", note, "The agent writer could not be told: A2A error: connection refused")
		s.checkUsable()
	})
}

func TestARejectedDelegationMayBeAnOutputLikeAnyOther(t *testing.T) {
	n := within(ask("clean up"), goOn)
	w := &world{GenerateFn: play(nil), DelegateFn: answers(remote(contract.TaskInputRequired, "Delete a?"), remote(contract.TaskCanceled, "kept"))}
	converse(t, w, tree(sequenceWith(n)), func(s *session) {
		s.rest()
		s.decide(contract.DecideSignal{RequestID: "d1"})
		s.rest()
		same(t, "answer", s.answer("d1"), "tell Operation cancelled by user.")
	})
}

func TestTheOtherAgentWantsTheUserToLogIn(t *testing.T) {
	for name, tt := range map[string]struct{ says, text string }{
		"in its own words": {"Log in at https://writer.", "Log in at https://writer."},
		"without a word":   {"", "Authentication required by A2A agent writer."},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{GenerateFn: play(nil), DelegateFn: answers(remote(contract.TaskAuthRequired, tt.says), remote(contract.TaskCanceled, ""))}
			converse(t, w, tree(sequenceWith(ask("write"))), func(s *session) {
				s.rest()
				r := s.request("r1").Result
				same(t, "auth required", r.AuthRequired, true)
				same(t, "answer", r.Response.Inline, tt.text)
				same(t, "states", s.states(), "pipeline:failed[find:done ask:failed tell:pending]")
				s.checkUsable()
			})
		})
	}
}

func TestADelegationThatMayDestroyWaitsFirst(t *testing.T) {
	w := &world{GenerateFn: play(nil), DelegateFn: answers(remote(contract.TaskInputRequired, "Sure?"), remote(contract.TaskCompleted, "written"))}
	converse(t, w, tree(sequenceWith(within(ask("write {found}", "found"), destructive))), func(s *session) {
		s.rest()
		p := s.pending()
		same(t, "description", p.Description, "[ask] Delegate to A2A agent: writer\n\nMessage: write find")
		same(t, "reason", p.Reason, contract.ReasonDestructive)
		same(t, "task", p.RemoteTaskID, "")
		same(t, "sent", len(read(w, &w.sent)), 0)
		s.approve()
		s.rest()
		same(t, "sent", sentTo(w), []string{`{"message":"write find"}`})
		same(t, "reason", s.pending().Reason, contract.ReasonRemote)
		s.decide(contract.DecideSignal{Approved: true, RequestID: "d2"})
		s.rest()
		same(t, "answer", s.answer("d2"), "tell written")
	})
}

func TestADelegationThatWasNotApprovedIsNotSent(t *testing.T) {
	w := &world{GenerateFn: play(nil)}
	converse(t, w, tree(sequenceWith(within(ask("write"), destructive))), func(s *session) {
		s.rest()
		s.decide(contract.DecideSignal{RequestID: "d1"})
		s.rest()
		same(t, "sent", len(read(w, &w.sent)), 0)
		same(t, "answer", s.answer("d1"), "Operation cancelled by user.\n\nDone: find.\n\nNot done: ask (rejected), tell (skipped).")
		s.nothingWaits()
	})
}

func TestInsideAParallelNodeADelegationIsSentAtOnce(t *testing.T) {
	n := within(ask("write"), destructive, atOnce)
	w := &world{GenerateFn: play(nil)}
	s := converse(t, w, tree(parallel("both", n, llm("other"))), func(s *session) {
		s.rest()
		same(t, "answer", s.answer("r1"), "delegated\nother")
	})
	same(t, "approvals", len(s.seen.children), 0)
}

func TestInsideAParallelNodeTheOtherAgentStillAsks(t *testing.T) {
	n := within(ask("write"), destructive, atOnce)
	w := &world{GenerateFn: play(nil), DelegateFn: answers(remote(contract.TaskInputRequired, "Sure?"), remote(contract.TaskCompleted, "written"))}
	converse(t, w, tree(parallel("both", n, llm("other"))), func(s *session) {
		s.rest()
		same(t, "states", s.states(), "both:running[ask:waiting other:done]")
		s.decide(contract.DecideSignal{Approved: true, RequestID: "d1"})
		s.rest()
		same(t, "answer", s.answer("d1"), "written\nother")
		same(t, "sent", sentTo(w), []string{`{"message":"write"}`, "approved for task-1"})
	})
}

func TestACancelTellsTheOtherAgentThatWaits(t *testing.T) {
	for name, root := range map[string]contract.Node{"alone": ask("write"), "in a tree": parallel("both", sequenceWith(ask("write")), llm("other"))} {
		t.Run(name, func(t *testing.T) {
			w := &world{GenerateFn: play(nil), DelegateFn: answers(remote(contract.TaskInputRequired, "Sure?"), remote(contract.TaskCanceled, "kept"))}
			converse(t, w, tree(root), func(s *session) {
				s.rest()
				s.pending()
				s.cancel("c1", "")
				s.rest()
				same(t, "answer", s.answer("c1"), "The turn was cancelled.")
				same(t, "sent", sentTo(w), []string{`{"message":"write"}`, "cancel task-1"})
				s.checkUsable()
			})
		})
	}
}

func TestTheTokenOfWhoApprovedGoesWithTheDelegationIfTheAgentSaysSo(t *testing.T) {
	w := &world{GenerateFn: play(nil), DelegateFn: answers(remote(contract.TaskInputRequired, "Sure?"), remote(contract.TaskCompleted, "written"))}
	in := with(tree(sequenceWith(ask("write"))), asApprover)
	in.First.Credential = askersToken
	converse(t, w, in, func(s *session) {
		s.rest()
		s.decide(contract.DecideSignal{Approved: true, Credential: approversToken})
		s.rest()
	})
	var log []string
	for _, l := range read(w, &w.log) {
		if l == "regular delegate "+askersToken || l == "regular delegate "+approversToken {
			log = append(log, l)
		}
	}
	same(t, "tokens", slices.Compact(log), []string{"regular delegate " + askersToken, "regular delegate " + approversToken})
}
