package contract

import (
	"slices"
	"time"

	"agent-stop-and-go/workflows/contract/delegation"
)

// NodeType is the type of a node of an agent's tree.
type NodeType string

// The types. The first three are composite nodes, which are workflows. The other two are
// leaves, which run inside the workflow of their parent.
const (
	NodeSequential NodeType = "sequential"
	NodeParallel   NodeType = "parallel"
	NodeLoop       NodeType = "loop"
	NodeLLM        NodeType = "llm"
	NodeA2A        NodeType = "a2a"
)

// DefaultMaxIterations is the limit of a loop's iterations without a setting.
const DefaultMaxIterations = 10

// KeyUserMessage is the placeholder for the message that the turn answers.
const KeyUserMessage = "user_message"

// OnRejectContinue makes a rejection the node's output; otherwise a rejection ends the turn.
const OnRejectContinue = "continue"

// Node is a node of an agent's tree, with all defaults resolved.
type Node struct {
	Name        string   `json:"name"`
	Type        NodeType `json:"type"`
	Description string   `json:"description,omitempty"`
	// OutputKey keeps the node's output in the session state.
	OutputKey string `json:"output_key,omitempty"`
	// OnReject is empty or OnRejectContinue.
	OnReject string `json:"on_reject,omitempty"`
	// Timeout limits how long the node works. Waiting for people does not count.
	Timeout time.Duration `json:"timeout,omitempty"`

	// Prompt is the system prompt of an llm node or the message of an a2a node. Keys lists its
	// placeholders for outputs of nodes and the user's message; one without a value is empty.
	// Expects lists those of them that an earlier node should have set.
	Prompt  Text     `json:"prompt,omitzero"`
	Keys    []string `json:"keys,omitempty"`
	Expects []string `json:"expects,omitempty"`
	// SkipApproval means that destructive calls of this leaf do not wait for an approval.
	SkipApproval bool `json:"at_once,omitempty"`

	Model         string `json:"model,omitempty"`
	MaxToolRounds int    `json:"max_tool_rounds,omitempty"`
	// History shows the model the whole conversation, not only the user's message.
	History bool `json:"history,omitempty"`
	// Tools are the names of the servers and tools on offer; nil means all.
	Tools       []string `json:"tools,omitzero"`
	CanExitLoop bool     `json:"can_exit_loop,omitempty"`
	// OutputSchema is the JSON Schema that an llm node's output fits.
	OutputSchema JSON `json:"output_schema,omitzero"`
	// Peers are the agents an llm node may delegate to.
	Peers []Peer `json:"peers,omitempty"`
	// Peer is the agent that an a2a node delegates to.
	Peer *Peer `json:"peer,omitempty"`

	Nodes         []Node `json:"nodes,omitempty"`
	MaxIterations int    `json:"max_iterations,omitempty"`
	// FailFast means that the first failed branch of a parallel node stops the others.
	FailFast bool `json:"fail_fast,omitempty"`
}

// Composite reports whether the node runs as a workflow of its own.
func (n Node) Composite() bool {
	return n.Type == NodeSequential || n.Type == NodeParallel || n.Type == NodeLoop
}

// Iterations returns MaxIterations, or its default.
func (n Node) Iterations() int {
	if n.MaxIterations <= 0 {
		return DefaultMaxIterations
	}
	return n.MaxIterations
}

// Rounds returns MaxToolRounds, or its default.
func (n Node) Rounds() int {
	if n.MaxToolRounds <= 0 {
		return DefaultMaxToolRounds
	}
	return n.MaxToolRounds
}

// WantsHistory reports whether a node in the tree sees the conversation.
func (n Node) WantsHistory() bool {
	return n.History || slices.ContainsFunc(n.Nodes, Node.WantsHistory)
}

// Peer is another agent that work is delegated to.
type Peer = delegation.Peer

// DefaultPeerTimeout limits the working time of a task of another agent.
const DefaultPeerTimeout = delegation.DefaultTimeout

// ToolExitLoop is the tool by which a model leaves the surrounding loop.
const ToolExitLoop = "exit_loop"

// Value is an entry of the session state.
type Value struct {
	Key  string `json:"key"`
	Text Text   `json:"text"`
}

// State is the session state: outputs of nodes by output key, each key once, in the order in
// which the keys were first set.
type State []Value

// Get returns the value of a key.
func (s State) Get(key string) (Text, bool) {
	for _, v := range s {
		if v.Key == key {
			return v.Text, true
		}
	}
	return Text{}, false
}

// With returns the state with the values of delta set. Neither is modified.
func (s State) With(delta ...Value) State {
	out := slices.Clone(s)
	for _, v := range delta {
		if i := slices.IndexFunc(out, func(o Value) bool { return o.Key == v.Key }); i >= 0 {
			out[i] = v
		} else {
			out = append(out, v)
		}
	}
	return out
}

// Without returns the state without a key.
func (s State) Without(key string) State {
	return slices.DeleteFunc(slices.Clone(s), func(v Value) bool { return v.Key == key })
}

// For is Only, with an empty value for every key that has none.
func (s State) For(keys []string) State {
	out := s.Only(keys)
	for _, key := range keys {
		if _, ok := s.Get(key); !ok {
			out = append(out, Value{Key: key})
		}
	}
	return out
}

// Only returns the values of the keys that have one.
func (s State) Only(keys []string) State {
	var out State
	for _, v := range s {
		if slices.Contains(keys, v.Key) {
			out = append(out, v)
		}
	}
	return out
}
