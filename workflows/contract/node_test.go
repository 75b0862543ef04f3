package contract_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/workflows/contract"
)

func value(key, text string) contract.Value {
	return contract.Value{Key: key, Text: contract.Inline(text)}
}

func TestStateKeepsTheOrderInWhichKeysWereSet(t *testing.T) {
	a, b, c := value("a", "1"), value("b", "2"), value("c", "3")
	tests := map[string]struct {
		state contract.State
		delta []contract.Value
		want  contract.State
	}{
		"nothing in nothing": {nil, nil, nil},
		"first":              {nil, []contract.Value{a, b}, contract.State{a, b}},
		"more":               {contract.State{a}, []contract.Value{c, b}, contract.State{a, c, b}},
		"in place":           {contract.State{a, b}, []contract.Value{value("a", "9"), c}, contract.State{value("a", "9"), b, c}},
		"last one wins":      {contract.State{b}, []contract.Value{a, value("a", "9")}, contract.State{b, value("a", "9")}},
		"empty text":         {contract.State{a}, []contract.Value{value("a", "")}, contract.State{value("a", "")}},
	}
	for name, tt := range tests {
		if diff := cmp.Diff(tt.want, tt.state.With(tt.delta...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestWithChangesNeitherTheStateNorTheDelta(t *testing.T) {
	room := make(contract.State, 1, 10)
	room[0] = value("a", "1")
	delta := contract.State{value("a", "9"), value("b", "2")}
	one, other := room.With(delta...), room.With(value("c", "3"))
	if diff := cmp.Diff(contract.State{value("a", "1")}, room); diff != "" {
		t.Errorf("the state changed:\n%s", diff)
	}
	if diff := cmp.Diff(contract.State{value("a", "9"), value("b", "2")}, one); diff != "" {
		t.Errorf("another state on the same ground changed it:\n%s", diff)
	}
	if diff := cmp.Diff(contract.State{value("a", "1"), value("c", "3")}, other); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	one[0] = value("x", "x")
	if delta[0].Key != "a" {
		t.Error("the delta changed")
	}
}

func TestAKeyIsTakenOutOfAStateAndNotOutOfItsOrigin(t *testing.T) {
	a, b, c := value("a", "1"), value("b", "2"), value("c", "3")
	s := contract.State{a, b, c}
	for key, want := range map[string]contract.State{"b": {a, c}, "unknown": {a, b, c}} {
		if diff := cmp.Diff(want, s.Without(key)); diff != "" {
			t.Errorf("without %s (-want +got):\n%s", key, diff)
		}
	}
	if diff := cmp.Diff(contract.State{a, b, c}, s); diff != "" {
		t.Errorf("the state changed:\n%s", diff)
	}
}

func TestStateIsReadByKey(t *testing.T) {
	s := contract.State{value("a", "1"), value("empty", "")}
	for key, want := range map[string]bool{"a": true, "empty": true, "A": false, "": false} {
		if _, ok := s.Get(key); ok != want {
			t.Errorf("%q is there: %t", key, ok)
		}
	}
	if got, _ := s.Get("a"); got != contract.Inline("1") {
		t.Errorf("got %+v", got)
	}
}

func TestOnlyTheKeysAskedForAreTaken(t *testing.T) {
	a, b := value("a", "1"), value("b", "2")
	s := contract.State{a, b}
	tests := map[string]struct {
		keys []string
		want contract.State
	}{
		"none":           {nil, nil},
		"unknown":        {[]string{"x"}, nil},
		"one":            {[]string{"b", "x"}, contract.State{b}},
		"in their order": {[]string{"b", "a", "b"}, contract.State{a, b}},
	}
	for name, tt := range tests {
		if diff := cmp.Diff(tt.want, s.Only(tt.keys)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestAnAgentWithoutATreeIsOneNode(t *testing.T) {
	a := agent()
	if diff := cmp.Diff(node(), a.Root()); diff != "" {
		t.Errorf("root (-want +got):\n%s", diff)
	}
	a.Tree = nil
	want := contract.Node{
		Name: "writer", Type: contract.NodeLLM, Prompt: a.Prompt, Model: a.Model, MaxToolRounds: 5, History: true, Peers: a.Peers,
	}
	root := a.Root()
	if diff := cmp.Diff(want, root); diff != "" {
		t.Errorf("root (-want +got):\n%s", diff)
	}
	if root.Composite() || !root.WantsHistory() || root.Tools != nil || root.SkipApproval {
		t.Errorf("root %+v", root)
	}
}

func TestCompositeNodes(t *testing.T) {
	for typ, want := range map[contract.NodeType]bool{
		contract.NodeSequential: true, contract.NodeParallel: true, contract.NodeLoop: true,
		contract.NodeLLM: false, contract.NodeA2A: false, "": false,
	} {
		if got := (contract.Node{Type: typ}).Composite(); got != want {
			t.Errorf("%q is composite: %t", typ, got)
		}
	}
}

func TestHistoryIsWantedByAnyNodeInside(t *testing.T) {
	deep := tree()
	if deep.WantsHistory() {
		t.Error("no node of it sees the conversation")
	}
	deep.Nodes[0].Nodes[0].History = true
	if !deep.WantsHistory() {
		t.Error("a node inside sees the conversation")
	}
}

// nil offers every tool, an empty list none: their JSON must differ.
func TestNoToolsAreNotAllTools(t *testing.T) {
	for name, tools := range map[string][]string{"all": nil, "none": {}, "some": {"resources"}} {
		var back contract.Node
		decodeInto(t, encode(t, contract.Node{Tools: tools}), &back)
		if diff := cmp.Diff(tools, back.Tools); diff != "" {
			t.Errorf("%s in a node (-want +got):\n%s", name, diff)
		}
		var in contract.GenerateInput
		decodeInto(t, encode(t, contract.GenerateInput{Tools: tools}), &in)
		if diff := cmp.Diff(tools, in.Tools); diff != "" {
			t.Errorf("%s in a call of the model (-want +got):\n%s", name, diff)
		}
	}
}

func TestWhatIsOver(t *testing.T) {
	for s, want := range map[contract.NodeStatus]bool{
		"": false, contract.NodePending: false, contract.NodeRunning: false, contract.NodeWaiting: false,
		contract.NodeDone: true, contract.NodeFailed: true, contract.NodeSkipped: true, contract.NodeRejected: true,
		contract.NodeCancelled: true,
	} {
		if s.Over() != want {
			t.Errorf("%q is over: %t", s, s.Over())
		}
	}
}

func TestTheToolOfAPeer(t *testing.T) {
	if got := peer().Tool(); got != "a2a_researcher" {
		t.Errorf("got %q", got)
	}
}
