package workflows_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows"
	"agent-stop-and-go/workflows/contract"
)

// nestedThreeDeep nests a node three workflows deep, with a sibling at every level.
func nestedThreeDeep(n contract.Node) contract.Node {
	return sequential("one", parallel("two", loop("three", 2, n), llm("side")), llm("end"))
}

const cancelled = "The turn was cancelled. changed my mind"

func TestCancelStopsATreeWhereverItIs(t *testing.T) {
	call := `resources_list{"pattern":"q"}`
	tests := map[string]struct {
		replies []any
		during  func(s *session)
	}{
		"a model is asked":      {[]any{holdModel}, func(s *session) {}},
		"a tool runs":           {[]any{asks(list("q"))}, func(s *session) { same(s.t, "ran", s.world.ran(), []string{call}) }},
		"an approval is open":   {[]any{asks(add("x"))}, func(s *session) { s.pending() }},
		"two tools run":         {[]any{asks(list("q"), list("r"))}, func(s *session) {}},
		"another is asked for":  {[]any{asks(add("x"), add("y"))}, func(s *session) { s.approve(); s.rest(); s.pending() }},
		"in the next iteration": {[]any{says("once"), holdModel}, func(s *session) {}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{GenerateFn: play(map[string][]any{"work": tt.replies}), CallToolFn: holdTools}
			s := converse(t, w, tree(nestedThreeDeep(llm("work"))), func(s *session) {
				s.rest()
				tt.during(s)
				s.cancel("c1", "changed my mind")
				s.rest()
				same(t, "cancel", s.answer("c1"), cancelled)
				if r := s.request("r1"); !r.Settled {
					t.Errorf("the message has no answer")
				}
				said := lines(s.messages())
				same(t, "end", said[len(said)-1], "assistant: "+cancelled)
				same(t, "states", s.states(), "one:cancelled[two:cancelled[three:cancelled[work:cancelled] side:done] end:pending]")
				s.checkUsable()
			})
			for _, c := range s.seen.children {
				if r := s.approvalResult(c.Input.UUID); r == "" {
					t.Errorf("an approval still waits")
				}
			}
		})
	}
}

func (s *session) approvalResult(uuid string) contract.Decision {
	v := s.approval(uuid)
	if v.Result == nil {
		return ""
	}
	return v.Result.Decision
}

func TestADestructiveCallInATreeIsSeenThrough(t *testing.T) {
	call := `resources_add{"name":"x","value":1}`
	w := &world{GenerateFn: play(map[string][]any{"work": {asks(add("x"))}}), CallToolFn: holdTools}
	converse(t, w, tree(nestedThreeDeep(llm("work", atOnce))), func(s *session) {
		s.rest()
		s.cancel("c1", "changed my mind")
		s.rest()
		s.unsettled("c1")
		s.release(call, returns("added"), nil)
		s.rest()
		same(t, "cancel", s.answer("c1"), cancelled)
		same(t, "result", strings.Contains(strings.Join(s.masked(), "\n"), "result resources_add: added"), true)
		s.checkUsable()
	})
}

func TestCancelWithdrawsEveryOpenApproval(t *testing.T) {
	for name, root := range map[string]contract.Node{
		"of one node":  parallel("both", llm("a"), llm("b")),
		"of two nodes": parallel("both", sequential("first", llm("a")), sequential("second", llm("b"))),
	} {
		t.Run(name, func(t *testing.T) {
			_, w := twoAsk()
			converse(t, w, tree(root), func(s *session) {
				s.rest()
				a, b := s.approvalOfNode("a").UUID, s.approvalOfNode("b").UUID
				s.cancel("c1", "changed my mind")
				s.rest()
				same(t, "a", s.approval(a).Result.Decision, contract.Cancelled)
				same(t, "b", s.approval(b).Result.Decision, contract.Cancelled)
				same(t, "cancel", s.answer("c1"), cancelled)
				same(t, "cancel waits", s.request("c1").Result.WaitingApproval, false)
				same(t, "ran", w.ran(), nil)
				s.checkUsable()
			})
		})
	}
}

func TestCancelWhileOneOfTwoDecidedCallsIsSeenThrough(t *testing.T) {
	_, w := twoAsk()
	w.CallToolFn = holdTools
	converse(t, w, tree(parallel("both", llm("a"), llm("b"))), func(s *session) {
		s.rest()
		s.approveAt("a", "d1")
		s.rest()
		s.cancel("c1", "changed my mind")
		s.rest()
		s.nothingWaits()
		s.unsettled("c1")
		s.release(`resources_add{"name":"x","value":1}`, returns("added"), nil)
		s.rest()
		same(t, "cancel", s.answer("c1"), cancelled)
		s.checkUsable()
	})
}

func TestACancelThatArrivesWithItsMessageStartsNothing(t *testing.T) {
	w := &world{GenerateFn: play(nil)}
	in := tree(nestedThreeDeep(llm("work")))
	in.First = nil
	converse(t, w, in, func(s *session) {
		s.env.SignalWorkflowSkippingWorkflowTask(contract.SignalCancel, contract.CancelSignal{RequestID: "c1"})
		s.say("r1", "hello")
		s.rest()
		same(t, "answer", s.answer("r1"), "The turn was cancelled.")
		same(t, "models asked", len(w.asked()), 0)
		s.checkUsable()
	})
}

func TestCloseStopsATree(t *testing.T) {
	_, w := twoAsk()
	var a string
	s := converse(t, w, tree(parallel("both", llm("a"), sequential("inner", llm("b")))), func(s *session) {
		s.rest()
		a = s.approvalOfNode("a").UUID
		s.close("x1", "enough")
		s.rest()
		same(t, "approval", s.approval(a).Result.Decision, contract.Cancelled)
	})
	same(t, "status", s.result().Status, contract.StatusCompleted)
	same(t, "file", len(w.exported().Pending), 0)
}

func TestACancelledWorkflowStopsItsTree(t *testing.T) {
	_, w := twoAsk()
	s := converse(t, w, tree(parallel("both", llm("a"), sequential("inner", llm("b")))), func(s *session) {
		s.rest()
		s.approvalOfNode("a")
		s.env.CancelWorkflow()
		s.rest()
	})
	if !temporal.IsCanceledError(s.env.GetWorkflowError()) {
		t.Errorf("the workflow ended with %v", s.env.GetWorkflowError())
	}
	same(t, "file", w.exported().Status, contract.StatusCompleted)
	same(t, "pending", len(w.exported().Pending), 0)
}

func TestANodeCancelledByHandEndsItsTreeAndTheConversationGoesOn(t *testing.T) {
	w := &world{GenerateFn: play(map[string][]any{"work": {asks(add("x"))}})}
	converse(t, w, tree(sequential("one", sequential("two", llm("work")), llm("end"))), func(s *session) {
		s.rest()
		s.pending()
		s.env.CancelWorkflowByID(s.seen.nodes[1].ID, "")
		s.rest()
		if r := s.view(); r.Running {
			t.Errorf("the turn still runs")
		}
		s.checkUsable()
	})
}

// failDoomedSequences makes every sequence named "doomed" fail when it receives the signal die,
// as if an operator had terminated it.
func (s *session) failDoomedSequences() {
	s.env.RegisterWorkflowWithOptions(func(ctx workflow.Context, in contract.NodeInput) (contract.NodeResult, error) {
		if in.Node.Name != "doomed" {
			return workflows.Sequential(ctx, in)
		}
		var r contract.NodeResult
		var err error
		over := false
		workflow.Go(ctx, func(ctx workflow.Context) {
			r, err = workflows.Sequential(ctx, in)
			over = true
		})
		die := workflow.GetSignalChannel(ctx, "die")
		always, _ := workflow.NewDisconnectedContext(ctx)
		_ = workflow.Await(always, func() bool { return over || die.Len() > 0 })
		if !over {
			return r, errors.New("terminated by hand")
		}
		return r, err
	}, workflow.RegisterOptions{Name: contract.WorkflowSequential, DisableAlreadyRegisteredCheck: true})
}

func (s *session) kill(id string) {
	s.t.Helper()
	if err := s.env.SignalWorkflowByID(id, "die", nil); err != nil {
		s.t.Fatal(err)
	}
}

func doom(t *testing.T, w *world, root contract.Node, body func(s *session)) *session {
	t.Helper()
	s := newSession(t, w, contract.ConversationWorkflowID(conversationID))
	s.failDoomedSequences()
	s.run(contract.WorkflowConversation, tree(root), body, func() { s.close("", "") })
	return s
}

func TestARootThatIsTerminatedIsAnError(t *testing.T) {
	w := &world{GenerateFn: play(map[string][]any{"work": {asks(add("x"))}})}
	doom(t, w, sequential("doomed", llm("find"), llm("work")), func(s *session) {
		s.rest()
		s.pending()
		s.kill(s.seen.nodes[0].ID)
		s.rest()
		said := s.masked()
		same(t, "end", said[len(said)-1], "assistant: Pipeline error: terminated by hand")
		same(t, "what it had reported", said[:3], []string{"user: hello", "assistant: [find] find", `call resources_add {"name":"x","value":1}`})
		s.checkUsable()
	})
}

func TestANodeThatIsTerminatedIsAFailureLikeAnyOther(t *testing.T) {
	w := &world{GenerateFn: play(map[string][]any{"work": {holdModel}})}
	doom(t, w, sequential("one", sequential("doomed", llm("find"), llm("work")), llm("end")), func(s *session) {
		s.rest()
		s.kill(s.seen.nodes[1].ID)
		s.rest()
		same(t, "answer", s.answer("r1"), "end")
		same(t, "state", s.treeState().Nodes[0].Status, contract.NodeFailed)
		s.checkUsable()
	})
}

func TestTheMessagesOfATerminatedNodeStay(t *testing.T) {
	w := &world{GenerateFn: play(map[string][]any{"work": {asks(add("x"))}})}
	doom(t, w, sequential("one", sequential("doomed", llm("find"), llm("work")), llm("end")), func(s *session) {
		s.rest()
		s.pending()
		before := s.masked()
		s.kill(s.seen.nodes[1].ID)
		s.rest()
		same(t, "what it had reported", s.masked()[:4], before[:4])
		same(t, "states", s.states(), "one:done[doomed:failed[find:done work:waiting] end:done]")
	})
}

func TestTheTranscriptTellsThatANodeWasTerminated(t *testing.T) {
	w := &world{GenerateFn: play(map[string][]any{"work": {holdModel}})}
	doom(t, w, sequential("one", sequential("doomed", llm("work")), llm("end")), func(s *session) {
		s.rest()
		s.kill(s.seen.nodes[1].ID)
		s.rest()
		if said := strings.Join(s.masked(), "\n"); !strings.Contains(said, "Pipeline error: terminated by hand") {
			t.Errorf("nothing tells of it:\n%s", said)
		}
	})
}

func TestTheApprovalsOfATerminatedNodeDoNotWaitAnyLonger(t *testing.T) {
	w := &world{GenerateFn: play(map[string][]any{"work": {asks(add("x"))}, "slow": {holdModel}})}
	doom(t, w, parallel("both", sequential("doomed", llm("work")), llm("slow")), func(s *session) {
		s.rest()
		s.pending()
		s.kill(s.seen.nodes[1].ID)
		s.rest()
		s.nothingWaits()
		same(t, "status", s.view().Status, contract.StatusActive)
		s.release("generate slow", says("slow"), nil)
		s.rest()
		same(t, "state", s.treeState().Status, contract.NodeDone)
		s.checkUsable()
	})
}

func TestANodeMayWorkOnlySoLong(t *testing.T) {
	root := sequential("pipeline", llm("slow", limit(25*time.Second), key("k")), llm("last", prompt("last {k}", "k")))
	w := &world{GenerateFn: play(map[string][]any{"slow": {holdModel}})}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		s.unsettled("r1")
		s.rest()
		same(t, "answer", s.answer("r1"), "last ")
		same(t, "transcript", lines(s.messages())[1], "assistant: [slow] Timed out after 25s of work.")
		same(t, "states", s.states(), "pipeline:done[slow:failed last:done]")
		s.checkUsable()
	})
}

func TestALoneNodeMayWorkOnlySoLong(t *testing.T) {
	w := &world{GenerateFn: holdModel}
	converse(t, w, tree(llm("slow", limit(25*time.Second))), func(s *session) {
		s.rest()
		s.rest()
		same(t, "answer", s.answer("r1"), "Timed out after 25s of work.")
		s.checkUsable()
	})
}

func TestWaitingForPeopleIsNotWork(t *testing.T) {
	root := sequential("pipeline", llm("asker", limit(15*time.Second)), llm("last"))
	w := &world{GenerateFn: play(map[string][]any{"asker": {asks(add("x"), add("y")), holdModel}})}
	converse(t, w, tree(within(root, limit(40*time.Second))), func(s *session) {
		s.rest()
		s.sleep(100 * time.Hour)
		s.approve()
		s.sleep(100 * time.Hour)
		s.approve()
		s.rest()
		same(t, "ran", len(w.ran()), 2)
		same(t, "states", s.states(), "pipeline:running[asker:running last:pending]")
		s.sleep(20 * time.Second)
		same(t, "states", s.states(), "pipeline:done[asker:failed last:done]")
		s.checkUsable()
	})
}

func TestADestructiveCallIsSeenThroughWhenTimeIsUp(t *testing.T) {
	root := sequential("pipeline", llm("work", atOnce, limit(25*time.Second)), llm("last"))
	w := &world{GenerateFn: play(map[string][]any{"work": {asks(add("x"))}}), CallToolFn: holdTools}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		s.rest()
		s.unsettled("r1")
		s.release(`resources_add{"name":"x","value":1}`, returns("added"), nil)
		s.rest()
		same(t, "answer", s.answer("r1"), "last")
		same(t, "transcript", lines(s.messages())[2:4], []string{"result resources_add: added", "assistant: [work] Timed out after 25s of work."})
	})
}

func TestNodesShareTheTimeOfTheNodeAround(t *testing.T) {
	for name, inner := range map[string]contract.Node{
		"sequence": sequential("inner", llm("a"), llm("b"), llm("never")),
		"loop":     loop("inner", 2, llm("a"), llm("b"), llm("never")),
		"nested":   sequential("inner", sequential("deep", llm("a")), sequential("deeper", llm("b")), llm("never")),
	} {
		t.Run(name, func(t *testing.T) {
			root := sequential("pipeline", within(inner, limit(35*time.Second), key("k")), llm("last", prompt("last {k}", "k")))
			w := &world{GenerateFn: play(map[string][]any{"a": {holdModel}, "b": {holdModel}})}
			converse(t, w, tree(root), func(s *session) {
				s.rest()
				s.release("generate a", says("a"), nil)
				s.rest()
				s.unsettled("r1")
				s.rest()
				same(t, "answer", s.answer("r1"), "last ")
				same(t, "asked", w.asked(), []string{"a", "b", "last {k}"})
				same(t, "state", s.treeState().Nodes[0].Status, contract.NodeFailed)
				same(t, "output", s.treeState().Nodes[0].Output.Inline, "Timed out after 35s of work.")
				s.checkUsable()
			})
		})
	}
}

func TestBranchesShareTheirTime(t *testing.T) {
	root := sequential("pipeline", within(parallel("both", llm("a"), sequential("inner", llm("b")), llm("quick")), limit(25*time.Second)), llm("last"))
	w := &world{GenerateFn: play(map[string][]any{"a": {holdModel}, "b": {holdModel}})}
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		s.unsettled("r1")
		s.rest()
		same(t, "answer", s.answer("r1"), "last")
		same(t, "states", s.states(), "pipeline:done[both:done[a:failed inner:failed[b:failed] quick:done] last:done]")
	})
}

func TestTheMessagesOfATerminatedNodeStayWhereTheyAreFoldedToo(t *testing.T) {
	long := strings.Repeat("x", 1900)
	w := &world{GenerateFn: play(map[string][]any{"work": {asks(add("x"))}, "a": {says(long)}, "b": {says(long)}, "ask": {asks(add("y")), says("done")}})}
	doom(t, w, sequential("one", llm("a"), sequential("doomed", llm("find"), llm("work")), llm("b"), llm("ask")), func(s *session) {
		s.rest()
		s.pending()
		s.kill(s.seen.nodes[1].ID)
		s.rest()
		s.approveAt("ask", "d1")
		s.rest()
		same(t, "answer", s.answer("d1"), "done")
		if said := strings.Join(s.masked(), "\n"); !strings.Contains(said, "[find] find") {
			t.Errorf("the messages of the terminated node are lost:\n%s", strings.ReplaceAll(said, long, "…"))
		}
	})
}

func TestATreeFiftyLevelsDeep(t *testing.T) {
	const depth = 50
	long := strings.Repeat("x", 900)
	replies := map[string][]any{"deepest": {asks(add("x")), says(long)}}
	root := sequential("n50", llm("deepest"))
	for i := depth - 1; i > 0; i-- {
		name := fmt.Sprint("n", i)
		before, after := "before "+name, "after "+name
		replies[before], replies[after] = []any{says(long)}, []any{says(long)}
		root = sequential(name, llm(before), root, llm(after))
	}
	w := &world{GenerateFn: play(replies)}
	s := converse(t, w, tree(root), func(s *session) {
		s.rest()
		same(t, "depth", len(s.pending().NodePath), depth)
		same(t, "while it waits", len(s.messages()), depth+2)
		s.approveAt("deepest", "d1")
		s.rest()
		same(t, "answer", s.answer("d1"), long)
		same(t, "messages", len(s.messages()), 2*depth-2+6)
		uniqueIDs(t, s.messages())
		s.say("r2", "again")
		s.rest()
		same(t, "cancelled", s.request("r2").Settled, true)
		uniqueIDs(t, s.messages())
	})
	same(t, "workflows", len(s.seen.nodes), 2*depth)
}
