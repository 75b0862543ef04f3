package contract

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"agent-stop-and-go/workflows/contract/promptversion"
)

// Execution says how model calls and read-only tool calls run.
type Execution string

// The execution modes.
const (
	// ExecutionRegular runs them as activities: visible while they run, with heartbeats and retries by the server.
	ExecutionRegular Execution = "regular"
	// ExecutionLean runs them as local activities: about twice the turns per second, right for calls of under
	// five seconds. A crash repeats an unfinished one, so destructive calls never run this way.
	ExecutionLean Execution = "lean"
	// ExecutionAuto starts them as local activities, and destructive calls where they are claimed (package calls).
	// Activities continue those that take longer, without repeating them.
	ExecutionAuto Execution = "auto"
)

// CallAs says whose token an approved call uses.
type CallAs string

const (
	// CallAsApprover uses the token of the person who approved the call for this call only, if
	// the decision brought one. Otherwise every call uses the requester's token.
	CallAsApprover CallAs = "approver"
	// CallAsRequester is the default in MemoCallAs. An Agent omits it.
	CallAsRequester CallAs = "requester"
)

// DefaultMaxToolRounds is how often a turn returns tool results to the model before it fails.
const DefaultMaxToolRounds = 10

// Agent is the configuration of a conversation. It is part of the workflow's input: a changed
// YAML file changes the next conversation, a running one only as package adoption says.
type Agent struct {
	Name          string                 `json:"name"`
	Description   string                 `json:"description,omitempty"`
	Prompt        Text                   `json:"prompt,omitzero"`
	PromptVersion *promptversion.Version `json:"prompt_version,omitempty"` // not part of Hash
	Model         string                 `json:"model"`
	MaxToolRounds int                    `json:"max_tool_rounds,omitempty"`
	Execution     Execution              `json:"execution,omitempty"`
	// ApprovalTimeout is how long an approval waits before it expires. Zero is unlimited.
	ApprovalTimeout time.Duration `json:"approval_timeout,omitempty"`
	CallAs          CallAs        `json:"call_as,omitempty"`
	// Approvers are the rules of who may decide approvals; see package approvers.
	Approvers []string `json:"approvers,omitempty"`
	// Webhooks is set if web hooks receive the events of approvals.
	Webhooks bool `json:"webhooks,omitempty"`
	// Node is the node name on the messages of an agent without a tree.
	Node string `json:"node,omitempty"`
	// Peers are the agents that an agent without a tree may delegate to.
	Peers []Peer `json:"peers,omitempty"`
	// Models has the routes of the models that are not called by their plain name.
	Models []ModelRoute `json:"models,omitempty"`
	// Choices are the models that people may choose instead of Model; see package choice.
	Choices []string `json:"choices,omitempty"`
	Limits  *Limits  `json:"limits,omitempty"`
	// Tree is the agent's tree. Without one the agent is a single llm node.
	Tree *Node `json:"tree,omitempty"`
}

// Route returns the route of a model, by the name that nodes use for it.
func (a Agent) Route(model string) ModelRoute {
	for _, r := range a.Models {
		if r.Name == model {
			return r
		}
	}
	return ModelRoute{Name: model}
}

// Root returns the agent's tree. An agent without one is a single llm node that sees the whole
// conversation.
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
	a.PromptVersion = nil
	data, err := json.Marshal(a)
	if err != nil { // every value of the type can be encoded
		panic(fmt.Sprintf("encode agent: %v", err))
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:6])
}
