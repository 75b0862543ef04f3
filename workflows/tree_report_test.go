package workflows_test

import (
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract"
)

func (s *session) report(r any) {
	if one, ok := r.(contract.NodeReport); ok {
		r = contract.NodeReports{Reports: []contract.NodeReport{one}}
	}
	s.env.SignalWorkflow(contract.SignalReport, r)
}

func TestTheTreeIsShownWhileItRuns(t *testing.T) {
	root := sequential("pipeline", llm("find"), loop("refine", 2, sequential("inner", llm("draft"))), llm("last"))
	w := &world{GenerateFn: play(map[string][]any{"draft": {says("one"), holdModel}})}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		v, state := s.tree(), s.treeState()
		same(t, "conversation", v.ConversationID, conversationID)
		same(t, "turn", v.Turn, 1)
		same(t, "prompts", v.Node.Nodes[0].Prompt, contract.Text{})
		same(t, "states", s.states(), "pipeline:running[find:done refine:running[inner:running[draft:running]] last:pending]")
		same(t, "iteration", state.Nodes[1].Iteration, 2)
		same(t, "run", state.Nodes[1].Nodes[0].Run, contract.TurnWorkflowID(conversationID, 1)+"/pipeline/refine/iteration-2/inner")
		same(t, "output", state.Nodes[0].Output.Inline, "find")
		same(t, "tokens", state.Nodes[0].Usage, contract.Usage{InputTokens: 10, OutputTokens: 2})
		same(t, "times", !state.Nodes[0].StartedAt.IsZero() && !state.Nodes[0].EndedAt.IsZero(), true)
		same(t, "messages", s.masked(), []string{"user: hello", "assistant: [find] find", "assistant: [draft] one"})
		same(t, "running", s.view().Running, true)
		s.release("generate draft", says("two"), nil)
		s.rest()
		same(t, "answer", s.answer("r1"), "last")
		state = s.treeState()
		same(t, "states", s.states(), "pipeline:done[find:done refine:done[inner:done[draft:done]] last:done]")
		same(t, "tokens", state.Usage, s.view().Usage)
	})
}

func TestDetailsOfANodeShowHowFarItIs(t *testing.T) {
	root := sequential("pipeline", llm("find"), llm("work"))
	w := &world{GenerateFn: play(map[string][]any{"work": {asks(add("x"))}})}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		d := s.details(s.seen.nodes[0].ID)
		for _, want := range []string{"### pipeline · sequential · running", "1. **find** (llm): done", "2. **work** (llm): waiting", s.pending().UUID} {
			if !strings.Contains(d, want) {
				t.Errorf("details lack %q:\n%s", want, d)
			}
		}
		s.approve()
		s.rest()
	})
}

func TestBeforeAnyMessageTheTreeIsPending(t *testing.T) {
	in := tree(sequential("pipeline", llm("find")))
	in.First = nil
	converse(t, &world{}, in, func(s *session) {
		s.rest()
		same(t, "states", s.states(), "pipeline:pending[find:pending]")
	})
}

func TestReportsComeInOrder(t *testing.T) {
	root := sequential("pipeline", parallel("both", llm("a"), sequential("inner", llm("b"))), llm("last"))
	w := &world{GenerateFn: play(map[string][]any{"a": {asks(add("x")), says("a")}, "b": {asks(add("y")), says("b")}})}
	s := converse(t, w, tree(root), func(s *session) {
		s.rest()
		s.approveAt("b", "d2")
		s.rest()
		s.approveAt("a", "d1")
		s.rest()
		same(t, "answer", s.answer("d1"), "last")
	})
	seq := map[string]int{}
	for _, r := range s.seen.reports {
		same(t, "report of "+r.Run, r.Seq, seq[r.Run]+1)
		seq[r.Run] = r.Seq
	}
	same(t, "nodes that reported", len(seq), 3)
}

func TestReportsAreFewWhileANodeTakesItsTime(t *testing.T) {
	replies := map[string][]any{}
	for range 30 {
		replies["work"] = append(replies["work"], holdModel)
	}
	w := &world{GenerateFn: play(replies)}
	root := parallel("both", llm("work", func(n *contract.Node) { n.MaxToolRounds = 100 }), llm("quick"))
	s := converse(t, w, tree(root), func(s *session) {
		s.rest()
		for range 29 {
			s.sleep(10 * time.Second)
			s.release("generate work", asks(list("q")), nil)
		}
		s.rest()
	})
	if n := len(s.seen.reports); n > 30 {
		t.Errorf("%d reports", n)
	}
}

func TestReportsThatAreLateOldOrGarbageChangeNothing(t *testing.T) {
	root := sequential("pipeline", llm("find"), llm("work"))
	w := &world{GenerateFn: play(map[string][]any{"work": {asks(add("x")), says("worked"), asks(add("y")), says("worked")}})}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		s.approve()
		s.rest()
		s.say("r2", "again")
		s.rest()
		before, states, pending := s.view(), s.states(), s.pending()
		late := s.seen.reports[0]
		old := s.seen.reports[len(s.seen.reports)-1]
		old.Open, old.Tree.Status, old.Transcript = nil, contract.NodeFailed, contract.Transcript{}
		for _, r := range []any{late, old, "garbage", nil, 17, []string{"x"}, map[string]any{"turn": "two"}, map[string]any{}} {
			s.report(r)
		}
		s.report(typed(`{"turn":2,`))
		s.rest()
		same(t, "conversation", s.view(), before)
		same(t, "states", s.states(), states)
		same(t, "pending", s.pending(), pending)
		s.decide(contract.DecideSignal{Approved: true, RequestID: "d2"})
		s.rest()
		same(t, "answer", s.answer("d2"), "worked")
		s.report(late)
		s.rest()
		s.checkUsable()
	})
}

func TestAReportBetweenTurnsChangesNothing(t *testing.T) {
	w := &world{GenerateFn: play(nil)}
	converse(t, w, tree(sequential("pipeline", llm("find"))), func(s *session) {
		s.rest()
		before := s.view()
		s.report(contract.NodeReport{Turn: 1, Run: before.ID, Seq: 100, Open: []contract.OpenApproval{{}}})
		s.rest()
		same(t, "conversation", s.view(), before)
		s.checkUsable()
	})
}

func TestALeftOverApprovalIsGoneAfterTheTurn(t *testing.T) {
	w := &world{GenerateFn: play(map[string][]any{"find": {holdModel}})}
	converse(t, w, tree(sequential("pipeline", llm("find"))), func(s *session) {
		s.rest()
		s.report(contract.NodeReport{Turn: 1, Run: "made up", Seq: 1, Open: []contract.OpenApproval{{Approval: contract.PendingApproval{UUID: "u"}}}})
		s.rest()
		s.release("generate find", says("found"), nil)
		s.rest()
		s.checkUsable()
	})
}

func TestAConversationContinuesAsNewBetweenTreesAndStillShowsTheLast(t *testing.T) {
	w := &world{GenerateFn: play(nil)}
	var states string
	s := converse(t, w, tree(sequential("pipeline", llm("find"), sequential("inner", llm("deep")))), func(s *session) {
		s.rest()
		states = s.states()
		s.env.SetCurrentHistoryLength(8_000)
		s.rest()
	})
	in, ok := s.next()
	if !ok {
		t.Fatal("the run went on")
	}
	again := &world{GenerateFn: play(nil)}
	converse(t, again, in, func(s *session) {
		s.rest()
		same(t, "states", s.states(), states)
		s.say("r2", "again")
		s.rest()
		same(t, "answer", s.answer("r2"), "deep")
		same(t, "turn", s.tree().Turn, 2)
		uniqueIDs(t, s.messages())
	})
}

func TestALongRunDoesNotEndWhileATreeRuns(t *testing.T) {
	w := &world{GenerateFn: play(map[string][]any{"find": {holdModel}})}
	s := converse(t, w, tree(sequential("pipeline", llm("find"))), func(s *session) {
		s.env.SetCurrentHistoryLength(50_000)
		s.rest()
		same(t, "over", s.over, false)
		s.release("generate find", says("found"), nil)
		s.rest()
	})
	if _, ok := s.next(); !ok {
		t.Error("the run went on after the turn")
	}
}

func TestADecisionIsAnsweredHoweverSlowItsReportIs(t *testing.T) {
	for name, answer := range map[string]contract.DecideSignal{"approved": {RequestID: "d1", Approved: true}, "rejected": {RequestID: "d1"}} {
		for kind, root := range map[string]contract.Node{
			"sequence": sequential("pipeline", sequential("inner", llm("work"))), "branch": parallel("both", llm("work"), llm("quick")),
		} {
			t.Run(name+" in a "+kind, func(t *testing.T) {
				w := &world{GenerateFn: play(map[string][]any{"work": {asks(add("x")), says("worked")}})}
				s := newSession(t, w, contract.ConversationWorkflowID(conversationID))
				s.seen.slow = 5 * time.Second
				s.run(contract.WorkflowConversation, tree(root), func(s *session) {
					s.sleep(time.Minute)
					s.decide(answer)
					s.sleep(time.Minute)
					if r := s.request("d1"); !r.Settled || r.Result.WaitingApproval {
						t.Errorf("the decision: %+v", r)
					}
					s.seen.slow = 0
					s.checkUsable()
				}, func() { s.close("", "") })
			})
		}
	}
}
