package contract

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// Execution says how model calls and read-only tool calls run.
type Execution string

// The execution modes.
const (
	// ExecutionRegular runs them as activities: visible while they run, with
	// heartbeats and retries by the server.
	ExecutionRegular Execution = "regular"
	// ExecutionLean runs them as local activities: about twice the turns per
	// second, right for calls of under five seconds. A crash repeats an
	// unfinished one, so destructive calls never run this way.
	ExecutionLean Execution = "lean"
)

// CallAs says whose token goes with a call that a person approves.
type CallAs string

const (
	// CallAsApprover: that of who approved the call goes with this one call, where the
	// decision brought one. Without it the requester's goes with every call.
	CallAsApprover CallAs = "approver"
	// CallAsRequester is the default, as MemoCallAs has it. An Agent leaves it out.
	CallAsRequester CallAs = "requester"
)

// DefaultMaxToolRounds is how often a turn goes back to the model with tool
// results before it gives up.
const DefaultMaxToolRounds = 10

// Agent is the configuration a conversation runs by. It is part of the
// workflow's input: a changed YAML file changes the next conversation, never
// one that is under way.
type Agent struct {
	Name          string    `json:"name"`
	Description   string    `json:"description,omitempty"`
	Prompt        Text      `json:"prompt,omitzero"`
	Model         string    `json:"model"`
	MaxToolRounds int       `json:"max_tool_rounds,omitempty"`
	Execution     Execution `json:"execution,omitempty"`
	// ApprovalTimeout is how long an approval waits before it expires. Zero
	// waits for ever.
	ApprovalTimeout time.Duration `json:"approval_timeout,omitempty"`
	CallAs          CallAs        `json:"call_as,omitempty"`
	// Node names the llm node that the messages of a lone node carry.
	Node string `json:"node,omitempty"`
	// Peers are the agents that an agent without a tree may delegate to.
	Peers []Peer `json:"peers,omitempty"`
	// Models says how those of the models are called that need saying.
	Models []ModelRoute `json:"models,omitempty"`
	Limits *Limits      `json:"limits,omitempty"`
	// Tree is the agent's tree. Without one the agent is a single llm node.
	Tree *Node `json:"tree,omitempty"`
}

// Route is how a model is called, by the name that a node has for it.
func (a Agent) Route(model string) ModelRoute {
	for _, r := range a.Models {
		if r.Name == model {
			return r
		}
	}
	return ModelRoute{Name: model}
}

// Root is the agent's tree. An agent without one is a single llm node that sees
// the whole conversation.
func (a Agent) Root() Node {
	if a.Tree != nil {
		return *a.Tree
	}
	return Node{
		Name: a.Node, Type: NodeLLM, Prompt: a.Prompt, Model: a.Model, MaxToolRounds: a.MaxToolRounds,
		History: true, Peers: a.Peers,
	}
}

// Hash identifies the configuration: 12 hex digits of the SHA-256 of its JSON.
func (a Agent) Hash() string {
	data, err := json.Marshal(a)
	if err != nil { // the type has no value that cannot be encoded
		panic(fmt.Sprintf("encode agent: %v", err))
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:6])
}
