package workflows_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"agent-stop-and-go/workflows/contract"
)

func leaves() contract.GenerateResult {
	return asks(contract.Call{ID: "e", Name: contract.ToolExitLoop, Exit: true, Arguments: contract.JSON{Raw: []byte(`{}`)}})
}

func (s *session) tree() contract.TreeView {
	s.t.Helper()
	return query[contract.TreeView](s, contract.ConversationWorkflowID(conversationID), contract.QueryTree)
}

// treeState returns the state of the tree with the reported and stored states of its nodes.
func (s *session) treeState() contract.NodeState {
	s.t.Helper()
	v := s.tree()
	running := map[string]contract.NodeState{}
	for _, r := range v.Running {
		running[r.Run] = r
	}
	return s.whole(v.State, running)
}

func TestALoopRunsTenTimesUnlessItSaysOtherwise(t *testing.T) {
	for _, tt := range []struct{ most, want int }{{0, 10}, {3, 3}, {1, 1}} {
		w := &world{GenerateFn: play(nil)}
		converse(t, w, tree(loop("refine", tt.most, llm("draft"))), func(s *session) {
			s.rest()
			same(t, "answer", s.answer("r1"), "draft")
			same(t, "models asked", len(w.asked()), tt.want)
			same(t, "iterations", s.treeState().Iteration, tt.want)
			s.checkUsable()
		})
	}
}

func TestANodeDeepInsideMayLeaveTheLoop(t *testing.T) {
	exiting := llm("judge", mayExit, key("judged"))
	for name, inner := range map[string]contract.Node{
		"in a sequence":                   sequential("inner", llm("a"), exiting, llm("never")),
		"in a parallel node":              parallel("inner", llm("a"), exiting),
		"in a sequence of a parallel one": parallel("inner", llm("a"), sequential("deep", exiting, llm("never"))),
	} {
		t.Run(name, func(t *testing.T) {
			root := sequential("pipeline", loop("refine", 5, llm("draft"), inner, llm("unheard")), llm("after"))
			w := &world{GenerateFn: play(map[string][]any{"judge": {says("again"), leaves()}, "never": {says("once")}})}
			s := converse(t, w, tree(root), func(s *session) {
				s.rest()
				same(t, "answer", s.answer("r1"), "after")
				same(t, "iterations", s.treeState().Nodes[0].Iteration, 2)
				same(t, "status", s.treeState().Nodes[0].Status, contract.NodeDone)
				if said := lines(s.messages()); !strings.Contains(strings.Join(said, "\n"), "[judge] exit_loop called") {
					t.Errorf("nobody says that the loop was left:\n%s", strings.Join(said, "\n"))
				}
				uniqueIDs(t, s.messages())
				s.checkUsable()
			})
			same(t, "one iteration's workflow", s.seen.nodes[2].ID,
				contract.TurnWorkflowID(conversationID, 1)+"/pipeline/refine/iteration-1/inner")
		})
	}
}

func TestExitLoopOutsideALoopEndsTheSequence(t *testing.T) {
	root := sequential("pipeline", llm("first"), llm("judge", mayExit), llm("never"))
	w := &world{GenerateFn: play(map[string][]any{"judge": {leaves()}})}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		same(t, "answer", s.answer("r1"), "first")
		same(t, "asked", w.asked(), []string{"first", "judge"})
	})
}

func TestWhatIsAskedForWithExitLoopRunsFirst(t *testing.T) {
	reply := leaves()
	reply.Calls = append(reply.Calls, add("x"))
	reply.Text = contract.Inline("fine now")
	root := loop("refine", 5, llm("judge", mayExit, atOnce, key("k")))
	w := &world{GenerateFn: play(map[string][]any{"judge": {reply}})}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		same(t, "answer", s.answer("r1"), "fine now")
		same(t, "ran", w.ran(), []string{`resources_add{"name":"x","value":1}`})
	})
}

func TestARejectionInsideALoopEndsTheTurn(t *testing.T) {
	root := sequential("pipeline", loop("refine", 5, llm("write"), llm("check")), llm("after"))
	w := &world{GenerateFn: play(map[string][]any{"write": {says("one"), asks(add("x"))}})}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		same(t, "states", s.states(), "pipeline:running[refine:running[write:waiting check:pending] after:pending]")
		s.decide(contract.DecideSignal{RequestID: "d1"})
		s.rest()
		same(t, "answer", s.answer("d1"), "Operation cancelled by user.\n\nDone: write, check.\n\nNot done: write (rejected), after (skipped).")
		same(t, "iterations", s.treeState().Nodes[0].Iteration, 2)
		s.checkUsable()
	})
}

func TestAnApprovalInALaterIterationGoesOnExactlyThere(t *testing.T) {
	root := loop("refine", 4, llm("draft"), sequential("inner", llm("write")))
	w := &world{GenerateFn: play(map[string][]any{"write": {says("1"), says("2"), says("3"), asks(add("x")), says("4")}})}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		same(t, "path", s.pending().NodePath, []int{1, 0})
		s.decide(contract.DecideSignal{Approved: true, RequestID: "d1"})
		s.rest()
		same(t, "answer", s.answer("d1"), "4")
		same(t, "asked", len(w.asked()), 9)
		same(t, "ran", len(w.ran()), 1)
	})
}

func TestTheStateIsCarriedFromIterationToIteration(t *testing.T) {
	root := loop("refine", 3, llm("a", prompt("a{b}", "b"), key("a")), sequential("inner", llm("b", prompt("b{a}", "a"), key("b"))))
	w := &world{GenerateFn: play(nil)}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		same(t, "answer", s.answer("r1"), "bababa")
	})
}

// countingModel is a model that increments the value of the key "n".
func countingModel(_ context.Context, in contract.GenerateInput) (contract.GenerateResult, error) {
	n := 0
	if v, ok := in.Values.Get("n"); ok {
		_, _ = fmt.Sscan(v.Inline, &n)
	}
	return says(fmt.Sprint(n + 1)), nil
}

func TestALongLoopContinuesAsNewAndLosesNothing(t *testing.T) {
	const iterations = 200
	counter := llm("count", prompt("count {n}", "n"), key("n"))
	for name, inside := range map[string]contract.Node{"of a leaf": counter, "of a sequence": sequential("inner", counter)} {
		t.Run(name, func(t *testing.T) {
			w := &world{GenerateFn: countingModel}
			s := newSession(t, w, contract.ConversationWorkflowID(conversationID))
			s.nodesRollOverAfter(30)
			root := sequential("pipeline", loop("refine", iterations, inside), llm("last", prompt("last {n}", "n")))
			s.run(contract.WorkflowConversation, tree(root), func(s *session) {
				s.rest()
				same(t, "answer", s.answer("r1"), fmt.Sprint(iterations+1))
				same(t, "iterations", s.treeState().Nodes[0].Iteration, iterations)
				v := s.view()
				same(t, "usage", v.Usage, contract.Usage{InputTokens: 10 * (iterations + 1), OutputTokens: 2 * (iterations + 1)})
				all := s.messages()
				uniqueIDs(t, all)
				same(t, "messages", len(all), iterations+2)
				same(t, "counted", v.Transcript.Len(), len(all))
				for i := range min(iterations, len(all)-1) {
					same(t, "message", line(all[i+1]), fmt.Sprintf("assistant: [count] %d", i+1))
				}
				same(t, "models asked", len(w.asked()), iterations+1)
			}, func() { s.close("", "") })
			if s.seen.continued < 4 {
				t.Errorf("continued as new %d times", s.seen.continued)
			}
			seq := map[string]int{}
			for _, r := range s.seen.reports {
				if r.Seq <= seq[r.Run] {
					t.Errorf("report %d of %s after %d", r.Seq, r.Run, seq[r.Run])
				}
				seq[r.Run] = r.Seq
			}
			if n := len(s.seen.batches); n > 100 {
				t.Errorf("%d reports to the conversation, whose run cannot end meanwhile", n)
			}
			for _, in := range s.seen.carried {
				if n := jsonSize(t, in); n > 16<<10 {
					t.Fatalf("a run begins with %d bytes", n)
				}
			}
		})
	}
}

func TestALoopThatContinuedAsNewStillAsks(t *testing.T) {
	w := &world{GenerateFn: play(map[string][]any{"write": {says("1"), says("2"), says("3"), asks(add("x")), says("4"), asks(add("y")), says("5")}})}
	s := newSession(t, w, contract.ConversationWorkflowID(conversationID))
	s.nodesRollOverAfter(1)
	in := tree(loop("refine", 5, llm("write")))
	in.First.Credential = askersToken
	s.run(contract.WorkflowConversation, in, func(s *session) {
		s.rest()
		same(t, "iteration", s.treeState().Iteration, 4)
		same(t, "before", s.masked()[:4], []string{"user: hello", "assistant: [write] 1", "assistant: [write] 2", "assistant: [write] 3"})
		s.decide(contract.DecideSignal{Approved: true, RequestID: "d1", Credential: approversToken})
		s.rest()
		same(t, "waiting again", s.request("d1").Result.WaitingApproval, true)
		s.decide(contract.DecideSignal{Approved: true, RequestID: "d2"})
		s.rest()
		same(t, "answer", s.answer("d2"), "5")
		uniqueIDs(t, s.messages())
	}, func() { s.close("", "") })
	log := read(w, &w.log)
	var last string
	for _, l := range log {
		if strings.Contains(l, "generate") {
			last = l
		}
	}
	same(t, "the token outlives the run", last, "regular generate "+askersToken)
	same(t, "runs", s.seen.continued >= 4, true)
}
