package choice_test

import (
	"slices"
	"testing"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/choice"
	"agent-stop-and-go/workflows/contract/toolchoice"
)

func agent() contract.Agent {
	return contract.Agent{Model: "plain", Choices: []string{"fast", "deep"}, Tree: &contract.Node{Type: contract.NodeSequential, Nodes: []contract.Node{
		{Name: "a", Type: contract.NodeLLM, Model: "plain"}, {Name: "b", Type: contract.NodeLLM, Model: "fixed"}, {Name: "c", Type: contract.NodeA2A},
	}}}
}

func TestOnlyConfiguredModelsMayBeChosen(t *testing.T) {
	if names := choice.Names(agent()); !slices.Equal(names, []string{"plain", "fast", "deep"}) {
		t.Error(names)
	}
	for model, want := range map[string]bool{"": true, "plain": true, "fast": true, "fixed": false, "Fast": false, "gpt-4o": false} {
		if (choice.Problem(agent(), model) == "") != want {
			t.Errorf("%q: %v", model, !want)
		}
	}
	without := agent()
	without.Choices = nil
	if choice.Problem(without, "plain") == "" || choice.Problem(without, "") != "" || len(choice.Names(without)) > 0 {
		t.Error("there is nothing to choose from")
	}
}

func TestAModelIsForOneMessageOrKept(t *testing.T) {
	var state contract.Carried
	for i, step := range []struct {
		m           contract.MessageSignal
		want, keeps string
	}{
		{contract.MessageSignal{}, "plain", ""},
		{contract.MessageSignal{Model: "fast"}, "fast", ""},
		{contract.MessageSignal{}, "plain", ""},
		{contract.MessageSignal{Model: "deep", KeepModel: true}, "deep", "deep"},
		{contract.MessageSignal{Model: "fast"}, "fast", "deep"},
		{contract.MessageSignal{}, "deep", "deep"},
		{contract.MessageSignal{Model: "plain", KeepModel: true}, "plain", "plain"},
	} {
		a := agent()
		got := choice.Take(&state, a, step.m)
		if got.Model != step.want || got.Tree.Nodes[0].Model != step.want || got.Tree.Nodes[1].Model != "fixed" || got.Tree.Nodes[2].Model != "" || state.Model != step.keeps {
			t.Errorf("step %d: %+v %+v", i, got, state)
		}
		if a.Tree.Nodes[0].Model != "plain" {
			t.Error("the agent itself is changed")
		}
	}
}

func TestQueuedMessagesForgetAChoiceThatIsNotOfferedAnyMore(t *testing.T) {
	queue := []contract.MessageSignal{{Model: "gone", KeepModel: true}, {Model: "fast", KeepModel: true}, {KeepModel: true}}
	choice.Forget(&contract.Carried{}, queue, agent())
	if queue[0].Model != "" || queue[0].KeepModel || queue[1].Model != "fast" || !queue[1].KeepModel || !queue[2].KeepModel {
		t.Errorf("%+v", queue)
	}
}

func TestAChoiceThatIsNotOfferedAnyMoreIsForgotten(t *testing.T) {
	for _, c := range []struct{ model, turn, keeps, keepsTurn string }{
		{"fast", "deep", "fast", "deep"}, {"gone", "gone", "", ""}, {"fast", "gone", "fast", "fast"}, {"gone", "deep", "", "deep"},
	} {
		state := contract.Carried{Model: c.model, TurnModel: c.turn}
		choice.Forget(&state, nil, agent())
		if state.Model != c.keeps || state.TurnModel != c.keepsTurn {
			t.Errorf("%+v: %+v", c, state)
		}
	}
}

func TestAMessageSaysTheFormOfAnAnswer(t *testing.T) {
	asked := contract.MessageSignal{OutputSchema: contract.JSON{Raw: []byte(`{"type":"object"}`)}}
	own := contract.JSON{Raw: []byte(`{"type":"string"}`)}
	for name, c := range map[string]struct {
		agent contract.Agent
		want  string
	}{
		"one node":              {contract.Agent{Model: "plain"}, `{"type":"object"}`},
		"one node with its own": {contract.Agent{Model: "plain", Tree: &contract.Node{Type: contract.NodeLLM, OutputSchema: own}}, `{"type":"string"}`},
		"several nodes":         {agent(), ""},
	} {
		var state contract.Carried
		if got := choice.Root(&state, c.agent, asked).OutputSchema; string(got.Raw) != c.want {
			t.Errorf("%s: %s", name, got.Raw)
		}
		if got := choice.Root(&state, c.agent, contract.MessageSignal{}).OutputSchema; string(got.Raw) == `{"type":"object"}` {
			t.Errorf("%s: the next message has it too", name)
		}
	}
}

// Of nodes side by side one is meant, and none that offers other tools only.
func TestACallIsDemandedInside(t *testing.T) {
	leaf := func(tools []string) contract.Node { return contract.Node{Type: contract.NodeLLM, Tools: tools} }
	in := contract.NodeInput{
		ToolChoice: toolchoice.Choice{Call: []string{"pick"}},
		Node: contract.Node{Type: contract.NodeParallel, Nodes: []contract.Node{
			{Type: contract.NodeA2A}, leaf([]string{}), leaf([]string{"other"}),
			{Type: contract.NodeSequential, Nodes: []contract.Node{leaf([]string{"other"})}},
			{Type: contract.NodeSequential, Nodes: []contract.Node{leaf([]string{"other"}), leaf([]string{"pick"})}}, leaf(nil),
		}},
	}
	for i := range in.Node.Nodes {
		for iteration, want := range []bool{i == 4, i == 4, false} {
			if got := choice.Inside(in, i, iteration); (len(got.Call) == 1) != want {
				t.Errorf("node %d, iteration %d: %v", i, iteration, got)
			}
		}
	}
}
