package workflows_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/toolchoice"
)

// choosesPick makes the first message demand a call of its tool, one at a time.
func choosesPick(in contract.ConversationInput) contract.ConversationInput {
	in = withTools(in)
	in.First.ToolChoice = toolchoice.Choice{Call: []string{"pick_color"}, Single: true}
	return in
}

// demanded returns what was demanded of each reply, with the node.
func demanded(w *world) (out []string) {
	for _, p := range read(w, &w.prompts) {
		raw, err := json.Marshal(p.ToolChoice)
		if err != nil {
			panic(err)
		}
		out = append(out, cmp.Or(p.Node, "root")+" "+string(raw))
	}
	return out
}

const both, single = `{"call":["pick_color"],"single":true}`, `{"single":true}`

func TestACallIsDemandedOfTheFirstReplyOfATurn(t *testing.T) {
	w := &world{GenerateFn: script(asks(list("a")), asks(pick("b", false)), says("Done."), says("Again."))}
	converse(t, w, choosesPick(hello()), func(s *session) {
		s.rest()
		s.decideOn(s.pending().UUID, answered("blue"))
		s.rest()
		s.say("r9", "again")
		s.rest()
		same(t, "demanded", demanded(w), []string{"root " + both, "root " + single, "root " + single, "root {}"})
	})
}

func TestAReplyThatIsNotCarriedOutIsNotTheFirst(t *testing.T) {
	many := contract.GenerateResult{Overrun: "it asks for too much", DraftID: "d"}
	w := &world{GenerateFn: script(many, asks(list("a")), says("Done."))}
	converse(t, w, choosesPick(hello()), func(s *session) {
		s.rest()
		same(t, "demanded", demanded(w), []string{"root " + both, "root " + both, "root " + single})
	})
}

func TestAMessageThatWaitsKeepsWhatItDemands(t *testing.T) {
	w := &world{GenerateFn: holdModel}
	s := converse(t, w, hello(), func(s *session) {
		s.rest()
		in := choosesPick(hello())
		in.First.RequestID = "r2"
		s.message(*in.First)
		s.env.SetContinueAsNewSuggested(true)
		s.rest()
		s.release("generate", says("Hi."), nil)
		s.rest()
	})
	next, ok := s.next()
	if !ok || len(next.Carried.Queue) != 1 {
		t.Fatalf("the next run: %v, %+v", ok, next.Carried)
	}
	same(t, "demands", next.Carried.Queue[0].ToolChoice, choosesPick(hello()).First.ToolChoice)
}

// In a tree the first llm node that offers one of the tools is meant, and each of its later
// iterations is free.
func TestACallIsDemandedOfOneNodeOfATree(t *testing.T) {
	others := func(n *contract.Node) { n.Tools = []string{"resources"} }
	w := &world{GenerateFn: func(_ context.Context, in contract.GenerateInput) (contract.GenerateResult, error) {
		return says("I am " + in.Node), nil
	}}
	in := tree(sequential("all", llm("a", others), loop("twice", 2, sequential("inner", llm("b", others), llm("c")), llm("d")), llm("e")))
	converse(t, w, choosesPick(in), func(s *session) {
		s.rest()
		var want []string
		for i, name := range []string{"a", "b", "c", "d", "b", "c", "d", "e"} {
			demand := single
			if i == 2 {
				demand = both
			}
			want = append(want, fmt.Sprint(name, " ", demand))
		}
		same(t, "demanded", demanded(w), want)
	})
}
