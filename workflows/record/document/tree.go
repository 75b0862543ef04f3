package document

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/transcript"
)

// Tree is the agent's tree in the last turn of a conversation. Before the first turn every node
// is pending.
type Tree struct {
	ConversationID string `json:"conversation_id"`
	Turn           int    `json:"turn"`
	Tree           Node   `json:"tree"`
}

// Node is a node of the tree and its state.
type Node struct {
	Name string            `json:"name"`
	Type contract.NodeType `json:"type"`
	// Path leads to the node: child indices from the root, none for the root.
	Path      []int               `json:"path"`
	Status    contract.NodeStatus `json:"status"`
	StartedAt time.Time           `json:"started_at,omitzero"`
	EndedAt   time.Time           `json:"ended_at,omitzero"`
	// DurationMS is set if the node has ended.
	DurationMS *int64 `json:"duration_ms,omitempty"`
	Output     string `json:"output,omitempty"`
	// Usage of a composite node is the sum of its ended nodes.
	Usage Usage `json:"usage,omitzero"`
	// Iteration counts the started iterations of a loop, out of MaxIterations.
	Iteration     int    `json:"iteration,omitempty"`
	MaxIterations int    `json:"max_iterations,omitempty"`
	Model         string `json:"model,omitempty"`
	OutputKey     string `json:"output_key,omitempty"`
	// Approvals are the UUIDs of the approvals that the node waits for.
	Approvals []string `json:"approvals,omitempty"`
	// Run is the workflow ID of a composite node.
	Run string `json:"run,omitempty"`
	// Agents are the nodes inside; nil for a leaf.
	Agents []Node `json:"agents,omitzero"`
}

// RenderTree loads values from the store and returns the whole tree.
func RenderTree(ctx context.Context, store transcript.Store, v contract.TreeView) (Tree, error) {
	p := renderer{store: store, running: map[string]contract.NodeState{}}
	for _, s := range v.Running {
		p.running[s.Run] = s
	}
	root, err := p.node(ctx, v.Node, v.State, []int{}, false)
	if err != nil {
		return Tree{}, fmt.Errorf("render the tree of conversation %s: %w", v.ConversationID, err)
	}
	return Tree{ConversationID: v.ConversationID, Turn: v.Turn, Tree: root}, nil
}

// renderer combines nodes with their states.
type renderer struct {
	store   transcript.Store
	running map[string]contract.NodeState // by Run
}

// node combines a node with its state. over means that a node around it has ended.
func (p renderer) node(ctx context.Context, n contract.Node, s contract.NodeState, path []int, over bool) (Node, error) {
	if len(path) > transcript.MaxDepth {
		return Node{}, fmt.Errorf("nodes are %w", transcript.ErrTooDeep)
	}
	s = p.latest(s)
	d := Node{
		Name: n.Name, Type: n.Type, Path: path, Status: effectiveStatus(s.Status, over), StartedAt: s.StartedAt, EndedAt: s.EndedAt,
		DurationMS: duration(s), Usage: usage(s.Usage), Iteration: s.Iteration, OutputKey: n.OutputKey, Run: s.Run,
	}
	switch n.Type {
	case contract.NodeLoop:
		d.MaxIterations = n.Iterations()
	case contract.NodeLLM:
		d.Model = n.Model
	}
	if !d.Status.Over() {
		d.Approvals = s.Approvals
	}
	var err error
	if d.Output, err = transcript.ReadText(ctx, p.store, s.Output); err != nil {
		return d, fmt.Errorf("output of node %s: %w", n.Name, err)
	}
	if !n.Composite() {
		return d, nil
	}
	if d.Agents, err = p.inside(ctx, n, s, path, over || d.Status.Over()); err != nil {
		return d, err
	}
	if d.Status == contract.NodeRunning && onlyWaits(d.Agents) {
		d.Status = contract.NodeWaiting
	}
	return d, nil
}

// latest returns the state that the node itself reported last, if it did.
func (p renderer) latest(s contract.NodeState) contract.NodeState {
	reported, ok := p.running[s.Run]
	switch {
	case !ok:
	case s.Lost():
		s.Nodes, s.Offloaded = reported.Nodes, reported.Offloaded
	case !s.Status.Over():
		return reported
	}
	return s
}

func (p renderer) inside(ctx context.Context, n contract.Node, s contract.NodeState, path []int, over bool) ([]Node, error) {
	states, err := p.states(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("states inside node %s: %w", n.Name, err)
	}
	agents := make([]Node, len(n.Nodes))
	for i, child := range n.Nodes {
		var state contract.NodeState
		if i < len(states) {
			state = states[i]
		}
		if agents[i], err = p.node(ctx, child, state, append(slices.Clone(path), i), over); err != nil {
			return nil, err
		}
	}
	return agents, nil
}

func (p renderer) states(ctx context.Context, s contract.NodeState) ([]contract.NodeState, error) {
	if s.Offloaded == nil {
		return s.Nodes, nil
	}
	data, err := p.store.Get(ctx, *s.Offloaded)
	if err != nil {
		return nil, err
	}
	var states []contract.NodeState
	if err := json.Unmarshal(data, &states); err != nil {
		return nil, fmt.Errorf("decode blob %s: %w", s.Offloaded.SHA256, err)
	}
	return append(states, s.Nodes...), nil
}

// effectiveStatus returns the status of a node. If a node around it has ended, it is skipped if
// it never ran, and cancelled if it was running.
func effectiveStatus(s contract.NodeStatus, over bool) contract.NodeStatus {
	if s == "" {
		s = contract.NodePending
	}
	switch {
	case !over || s.Over():
		return s
	case s == contract.NodePending:
		return contract.NodeSkipped
	}
	return contract.NodeCancelled
}

// onlyWaits reports whether the nodes only wait for approvals.
func onlyWaits(agents []Node) bool {
	waiting := false
	for _, a := range agents {
		switch a.Status {
		case contract.NodeRunning:
			return false
		case contract.NodeWaiting:
			waiting = true
		}
	}
	return waiting
}

func duration(s contract.NodeState) *int64 {
	if s.StartedAt.IsZero() || s.EndedAt.IsZero() {
		return nil
	}
	ms := s.EndedAt.Sub(s.StartedAt).Milliseconds()
	return &ms
}
