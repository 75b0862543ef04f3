package workflows_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/delegation"
)

// rememberingAgent answers each task with its number, in one context, and with what it continues.
func rememberingAgent() func(context.Context, contract.DelegateInput) (contract.DelegateResult, error) {
	var mu sync.Mutex
	tasks := 0
	return func(_ context.Context, in contract.DelegateInput) (contract.DelegateResult, error) {
		mu.Lock()
		defer mu.Unlock()
		tasks++
		return contract.DelegateResult{
			State: contract.TaskCompleted, ContextID: "c", TaskID: fmt.Sprint("t", tasks), Text: contract.Inline("done"),
		}, nil
	}
}

// remembering returns a node that delegates to an agent with dialogues.
func remembering(name string) contract.Node {
	n := ask("write")
	n.Name, n.OutputKey, n.Peer = name, "", &contract.Peer{Name: "writer", URL: "http://writer", Context: delegation.ContextConversation}
	return n
}

// continuations lists what the tasks of the sent messages continue, "-" for nothing.
func continuations(w *world) string {
	var out []string
	for _, in := range sentMessages(w) {
		if in.Continues == nil {
			out = append(out, "-")
		} else {
			out = append(out, in.Continues.TaskID)
		}
	}
	return strings.Join(out, " ")
}

func TestATaskContinuesTheOneOfAnEarlierTurn(t *testing.T) {
	for name, tt := range map[string]struct {
		root contract.Node
		want string // of two turns
	}{
		"a node":        {remembering("ask"), "- t1"},
		"a sequence":    {sequential("pipeline", remembering("a"), remembering("b")), "- t1 t2 t3"},
		"a tree in it":  {sequential("pipeline", remembering("a"), loop("again", 2, remembering("b"))), "- t1 t2 t3 t4 t5"},
		"another agent": {sequential("pipeline", remembering("a"), ask("write")), "- - t1 -"},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{DelegateFn: rememberingAgent()}
			converse(t, w, tree(tt.root), func(s *session) {
				s.rest()
				s.say("r2", "shorter")
				s.rest()
			})
			same(t, "continued", continuations(w), tt.want)
			for _, in := range sentMessages(w) {
				same(t, "chain", strings.Join(in.Chain, " "), tree(tt.root).Agent.Name)
			}
		})
	}
}

func TestParallelBranchesDoNotShareADialogue(t *testing.T) {
	w := &world{DelegateFn: rememberingAgent()}
	root := sequential("pipeline", remembering("a"), parallel("both", remembering("b"), sequential("inner", remembering("c"))))
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		s.say("r2", "shorter")
		s.rest()
	})
	list := strings.Fields(continuations(w))
	same(t, "first turn", strings.Join(list[:3], " "), "- - -")
	same(t, "second turn begins with", list[3], "t1")
	slices.Sort(list[4:])
	same(t, "branches", strings.Join(list[4:], " "), "t2 t3")
}

// TestOneOfTwoTasksAtATimeContinuesTheDialogue has two calls in one reply of the model.
func TestOneOfTwoTasksAtATimeContinuesTheDialogue(t *testing.T) {
	call := func(id string) contract.Call {
		c := delegationCall("writer", "write", false)
		c.ID, c.Peer = id, remembering("ask").Peer
		return c
	}
	w := &world{GenerateFn: script(asks(call("1")), says("one"), asks(call("2"), call("3")), says("two")), DelegateFn: rememberingAgent()}
	converse(t, w, hello(), func(s *session) {
		s.rest()
		s.say("r2", "twice")
		s.rest()
	})
	list := strings.Fields(continuations(w))
	slices.Sort(list)
	same(t, "continued", strings.Join(list, " "), "- - t1")
}

func TestDialoguesSurviveContinueAsNew(t *testing.T) {
	w := &world{DelegateFn: rememberingAgent()}
	s := converse(t, w, tree(remembering("ask")), func(s *session) {
		s.rest()
		s.env.SetCurrentHistoryLength(8_000)
		s.rest()
	})
	next, ok := s.next()
	if !ok {
		t.Fatal("the run went on")
	}
	if list := next.Carried.Dialogues; len(list) != 1 || list[0].URL != "http://writer" || list[0].ContextID != "c" || list[0].TaskID != "t1" || list[0].Since.IsZero() {
		t.Errorf("carried %+v", list)
	}
	converse(t, w, next, func(s *session) {
		s.say("r2", "shorter")
		s.rest()
	})
	same(t, "continued", continuations(w), "- t1")
}

// TestATaskThatDidNotEndIsNotContinued has a task that a cancelled turn has left.
func TestATaskThatDidNotEndIsNotContinued(t *testing.T) {
	answer := rememberingAgent()
	w := &world{DelegateFn: func(ctx context.Context, in contract.DelegateInput) (contract.DelegateResult, error) {
		if in.Cancel {
			return contract.DelegateResult{State: contract.TaskCanceled}, nil
		}
		out, err := answer(ctx, in)
		if in.Continues != nil && in.Continues.TaskID == "t1" && out.TaskID == "t2" || isLook(in) {
			out.State = contract.TaskWorking
		}
		return out, err
	}}
	converse(t, w, tree(remembering("ask")), func(s *session) {
		s.rest()
		s.say("r2", "shorter")
		s.rest()
		s.cancel("c1", "no")
		s.rest()
		s.say("r3", "longer")
		s.rest()
	})
	var began []string
	for _, in := range sentMessages(w) {
		if !in.Cancel && in.TaskID == "" && in.Continues != nil {
			began = append(began, in.Continues.TaskID)
		}
	}
	same(t, "continued", strings.Join(began, " "), "t1 t1")
}

func TestTheRecordSaysThatAnAgentHasForgotten(t *testing.T) {
	w := &world{DelegateFn: answers(contract.DelegateResult{State: contract.TaskWorking, TaskID: "task-1", Anew: true}, remote(contract.TaskCompleted, "written"))}
	converse(t, w, tree(remembering("ask")), func(s *session) {
		s.rest()
		same(t, "note", s.note(), "The agent no longer knows the earlier task that this one was to continue, so it began anew.")
	})
}

// TestWhoApprovesADelegationSeesWhatItContinues has a delegation that a person approves, whose agent asks too.
func TestWhoApprovesADelegationSeesWhatItContinues(t *testing.T) {
	answer := rememberingAgent()
	w := &world{DelegateFn: func(ctx context.Context, in contract.DelegateInput) (contract.DelegateResult, error) {
		asked := contract.DelegateResult{State: contract.TaskInputRequired, ContextID: "c", TaskID: "t2", Text: contract.Inline("Delete it?")}
		switch {
		case isLook(in), in.Continues != nil:
			return asked, nil
		case in.Decision != "":
			return contract.DelegateResult{State: contract.TaskCompleted, ContextID: "c", TaskID: "t2", Text: contract.Inline("deleted")}, nil
		}
		return answer(ctx, in)
	}}
	root := remembering("ask")
	root.Peer.Destructive = true
	converse(t, w, tree(root), func(s *session) {
		s.rest()
		first := s.pending()
		if first.Continues != nil || strings.Contains(first.Description, "Continues") {
			t.Errorf("nothing is continued: %+v %q", first.Continues, first.Description)
		}
		s.approve()
		s.rest()
		s.say("r2", "delete it")
		s.rest()
		for range 2 { // before the delegation, and when its agent asks
			p := s.pending()
			if c := p.Continues; c == nil || c.ContextID != "c" || c.TaskID != "t1" || c.EndedAt.IsZero() || c.Since != c.EndedAt {
				t.Errorf("%+v", c)
			}
			if !strings.Contains(p.Description, `Continues its task "t1" (ended `) || !strings.Contains(p.Description, ` in its context "c" (since `) {
				t.Errorf("%q", p.Description)
			}
			s.approve()
			s.rest()
		}
	})
}
