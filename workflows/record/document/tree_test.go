package document_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/document"
	"agent-stop-and-go/workflows/record/transcript"
)

func composite(typ contract.NodeType, name string, nodes ...contract.Node) contract.Node {
	return contract.Node{Name: name, Type: typ, Nodes: nodes}
}

func leaf(name string) contract.Node {
	return contract.Node{Name: name, Type: contract.NodeLLM, Model: contract.DemoModel}
}

// pipelineView has a loop that is done, a parallel that waits, and a node that has not started.
func pipelineView() contract.TreeView {
	plan, report := leaf("plan"), leaf("report")
	plan.OutputKey, report.OutputKey = "plan", "report"
	ask := contract.Node{Name: "ask", Type: contract.NodeA2A, Peer: &contract.Peer{Name: "remote", URL: "http://localhost"}}
	polish := composite(contract.NodeLoop, "polish", leaf("write"), leaf("review"))
	polish.MaxIterations = 4
	const run = "conversation-" + conversationID + "/turn-3/pipeline"
	ended := func(s contract.NodeState, from, to time.Duration) contract.NodeState {
		s.Status, s.StartedAt, s.EndedAt = contract.NodeDone, noon.Add(from), noon.Add(to)
		return s
	}
	return contract.TreeView{
		ConversationID: conversationID, Turn: 3,
		Node: composite(contract.NodeSequential, "pipeline", plan, polish, composite(contract.NodeParallel, "act", leaf("add"), ask), report),
		State: contract.NodeState{
			Status: contract.NodeRunning, Run: run, StartedAt: noon, Usage: spent(),
			Nodes: []contract.NodeState{
				ended(contract.NodeState{Output: contract.Inline("Write, then add"), Usage: contract.Usage{InputTokens: 10}}, 0, 1500*time.Millisecond),
				ended(contract.NodeState{
					Run: run + "/polish", Output: contract.Inline("A text"), Iteration: 2,
					Nodes: []contract.NodeState{ended(contract.NodeState{Output: contract.Inline("A text")}, 3*time.Second, 8*time.Second), {}},
				}, 2*time.Second, 9*time.Second),
				{Status: contract.NodeRunning, Run: run + "/act", StartedAt: noon.Add(9 * time.Second), Nodes: []contract.NodeState{
					{Status: contract.NodeWaiting, StartedAt: noon.Add(9 * time.Second), Approvals: []string{approvalID}},
					ended(contract.NodeState{Output: contract.Inline("Found")}, 9*time.Second, 10*time.Second),
				}},
			},
		},
	}
}

func renderTree(t *testing.T, store transcript.Store, v contract.TreeView) document.Tree {
	t.Helper()
	tree, err := document.RenderTree(t.Context(), store, v)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func TestTheTreeIsTheGoldenOne(t *testing.T) {
	asked := pipelineView()
	asked.Turn, asked.State = 0, contract.NodeState{}
	lone := contract.TreeView{ConversationID: conversationID, Turn: 1, Node: contract.Agent{Model: contract.DemoModel}.Root(),
		State: contract.NodeState{Status: contract.NodeFailed, StartedAt: noon, EndedAt: noon, Output: contract.Inline("LLM error: down")}}
	for name, v := range map[string]contract.TreeView{"tree": pipelineView(), "tree-new": asked, "tree-lone": lone} {
		t.Run(name, func(t *testing.T) {
			data, err := json.MarshalIndent(renderTree(t, memory{}, v), "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name, append(data, '\n'))
		})
	}
}

// shape formats a tree: name:status(children).
func shape(n document.Node) string {
	out := n.Name + ":" + string(n.Status)
	if n.Agents == nil {
		return out
	}
	var inside []string
	for _, a := range n.Agents {
		inside = append(inside, shape(a))
	}
	return out + "(" + strings.Join(inside, " ") + ")"
}

func TestStatusesOfATree(t *testing.T) {
	const (
		running, waiting, done = contract.NodeRunning, contract.NodeWaiting, contract.NodeDone
		failed, rejected       = contract.NodeFailed, contract.NodeRejected
	)
	of := func(s contract.NodeStatus, nodes ...contract.NodeState) contract.NodeState {
		return contract.NodeState{Status: s, Nodes: nodes}
	}
	never := contract.NodeState{}
	spec := composite(contract.NodeSequential, "r", leaf("a"), composite(contract.NodeParallel, "p", leaf("b"), leaf("c")))
	tests := map[string]struct {
		state contract.NodeState
		want  string
	}{
		"nothing asked yet":          {never, "r:pending(a:pending p:pending(b:pending c:pending))"},
		"just started":               {of(running), "r:running(a:pending p:pending(b:pending c:pending))"},
		"said to be pending":         {of(running, of(contract.NodePending)), "r:running(a:pending p:pending(b:pending c:pending))"},
		"a leaf runs":                {of(running, of(running)), "r:running(a:running p:pending(b:pending c:pending))"},
		"a leaf waits":               {of(running, of(waiting)), "r:waiting(a:waiting p:pending(b:pending c:pending))"},
		"between two steps":          {of(running, of(done)), "r:running(a:done p:pending(b:pending c:pending))"},
		"one waits, one runs":        {of(running, of(done), of(running, of(waiting), of(running))), "r:running(a:done p:running(b:waiting c:running))"},
		"one waits, one is done":     {of(running, of(done), of(running, of(waiting), of(done))), "r:waiting(a:done p:waiting(b:waiting c:done))"},
		"both wait":                  {of(running, of(done), of(running, of(waiting), of(waiting))), "r:waiting(a:done p:waiting(b:waiting c:waiting))"},
		"one waits, one has failed":  {of(running, of(done), of(running, of(waiting), of(failed))), "r:waiting(a:done p:waiting(b:waiting c:failed))"},
		"it says itself that it was": {of(waiting, of(running)), "r:waiting(a:running p:pending(b:pending c:pending))"},
		"over":                       {of(done, of(done), of(done, of(done), of(failed))), "r:done(a:done p:done(b:done c:failed))"},
		"over before the last step":  {of(rejected, of(rejected)), "r:rejected(a:rejected p:skipped(b:skipped c:skipped))"},
		"a branch never ran":         {of(running, of(done), of(failed, of(failed))), "r:running(a:done p:failed(b:failed c:skipped))"},
		"skipped as a whole":         {of(running, of(done), of(contract.NodeSkipped)), "r:running(a:done p:skipped(b:skipped c:skipped))"},
		"ended in the middle":        {of(contract.NodeCancelled, of(done), of(running, of(waiting), of(running))), "r:cancelled(a:done p:cancelled(b:cancelled c:cancelled))"},
		"more states than nodes":     {of(done, of(done), of(done, of(done), of(done), of(done)), of(done)), "r:done(a:done p:done(b:done c:done))"},
	}
	for name, tt := range tests {
		got := shape(renderTree(t, memory{}, contract.TreeView{Node: spec, State: tt.state}).Tree)
		if got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, tt.want)
		}
	}
}

func TestWhatIsOverWaitsForNobody(t *testing.T) {
	v := pipelineView()
	waits := renderTree(t, memory{}, v).Tree.Agents[2].Agents[0]
	if diff := cmp.Diff([]string{approvalID}, waits.Approvals); diff != "" {
		t.Errorf("approvals (-want +got):\n%s", diff)
	}
	v.State.Status = contract.NodeCancelled
	if n := renderTree(t, memory{}, v).Tree.Agents[2].Agents[0]; n.Status != contract.NodeCancelled || n.Approvals != nil {
		t.Errorf("%s waits for %v", n.Status, n.Approvals)
	}
}

func TestPathsLeadToTheirNodes(t *testing.T) {
	var visit func(n document.Node, path []int)
	visit = func(n document.Node, path []int) {
		if fmt.Sprint(n.Path) != fmt.Sprint(path) || n.Path == nil {
			t.Errorf("%s is at %v, expected %v", n.Name, n.Path, path)
		}
		for i, a := range n.Agents {
			visit(a, append(path[:len(path):len(path)], i))
		}
	}
	visit(renderTree(t, memory{}, pipelineView()).Tree, []int{})
}

// foldAll moves the states inside every node to the store, the deepest first.
func foldAll(t *testing.T, store transcript.Store, s contract.NodeState) contract.NodeState {
	t.Helper()
	if s.Nodes == nil {
		return s
	}
	inside := make([]contract.NodeState, len(s.Nodes))
	for i, n := range s.Nodes {
		inside[i] = foldAll(t, store, n)
	}
	data, err := json.Marshal(inside)
	if err != nil {
		t.Fatal(err)
	}
	b, err := store.Put(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	s.Nodes, s.Offloaded = nil, &b
	return s
}

func TestAFoldedTreeReadsTheSame(t *testing.T) {
	store, v := memory{}, pipelineView()
	long := strings.Repeat("long ", 2000)
	text, err := transcript.Text(t.Context(), store, long)
	if err != nil {
		t.Fatal(err)
	}
	v.State.Nodes[1].Nodes[0].Output = text
	want := renderTree(t, store, v)
	if want.Tree.Agents[1].Agents[0].Output != long {
		t.Error("the output is not in place")
	}
	v.State = foldAll(t, store, v.State)
	if diff := cmp.Diff(want, renderTree(t, store, v)); diff != "" {
		t.Errorf("tree (-unfolded +folded):\n%s", diff)
	}
}

func TestATreeIsOnlySoDeep(t *testing.T) {
	deep := func(n int) contract.TreeView {
		node := leaf("leaf")
		for range n {
			node = composite(contract.NodeSequential, "s", node)
		}
		return contract.TreeView{Node: node}
	}
	renderTree(t, memory{}, deep(transcript.MaxDepth))
	if _, err := document.RenderTree(t.Context(), memory{}, deep(transcript.MaxDepth+1)); !errors.Is(err, transcript.ErrTooDeep) {
		t.Errorf("one level more: %v", err)
	}
}

func TestALostPartOfATreeIsAnErrorThatNamesItsPlace(t *testing.T) {
	lost := contract.NewBlob([]byte("never stored"))
	tests := map[string]struct {
		lose func(*contract.NodeState)
		want string
	}{
		"output": {func(s *contract.NodeState) { s.Nodes[0].Output = contract.Text{Blob: &lost} }, "node plan"},
		"states": {func(s *contract.NodeState) { s.Nodes[1].Offloaded = &lost }, "node polish"},
	}
	for name, tt := range tests {
		v := pipelineView()
		tt.lose(&v.State)
		_, err := document.RenderTree(t.Context(), memory{}, v)
		if !errors.Is(err, errNoBlob) || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), conversationID) {
			t.Errorf("missing %s: %v; expected an error that names %s", name, err, tt.want)
		}
	}
	v, broken := pipelineView(), []byte("{")
	blob := contract.NewBlob(broken)
	v.State.Offloaded = &blob
	if _, err := document.RenderTree(t.Context(), memory{blob.SHA256: broken}, v); err == nil || !strings.Contains(err.Error(), blob.SHA256) {
		t.Errorf("broken states: %v; expected an error that names the blob", err)
	}
}
