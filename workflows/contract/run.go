package contract

import (
	"time"

	"agent-stop-and-go/workflows/contract/delegation"
	"agent-stop-and-go/workflows/contract/toolchoice"
	"agent-stop-and-go/workflows/contract/verdict"
)

// NodeInput starts a composite node. The workflow ID is NodeWorkflowID.
type NodeInput struct {
	ConversationID string `json:"conversation_id"`
	SessionID      string `json:"session_id,omitempty"`
	// Owner is the owner of the conversation.
	Owner Identity `json:"owner,omitzero"`
	// Chain is the conversation's.
	Chain []string `json:"chain,omitempty"`
	// Caller is the sender of User, for the agent's rules.
	Caller *verdict.Caller `json:"caller,omitempty"`
	// Agent is the conversation's agent without its prompt and its tree.
	Agent Agent `json:"agent"`
	// ConfigHash is the Hash of the whole agent.
	ConfigHash string `json:"config_hash"`
	Turn       int    `json:"turn"`
	// Path is the node's path in the tree: child indices from the root.
	Path []int `json:"path"`
	Node Node  `json:"node"`
	// User is the message that the turn answers.
	User Message `json:"user"`
	// ClientTools are the Tools of User.
	ClientTools JSON              `json:"client_tools,omitzero"`
	ToolChoice  toolchoice.Choice `json:"tool_choice,omitzero"` // of User, as far as it is for the node
	// History is the conversation up to and with User, for nodes that see it.
	History *Transcript `json:"history,omitempty"`
	State   State       `json:"state,omitempty"`
	// Credential is the caller's sealed token.
	Credential string `json:"credential,omitempty"`
	// Budget limits the node's working time; zero is unlimited.
	Budget time.Duration `json:"budget,omitempty"`
	// Consumption is the consumption before the node, in the turn and in the conversation.
	Consumption Consumption  `json:"spent,omitzero"`
	Carried     *NodeCarried `json:"carried,omitempty"`
	// Key is the workflow ID that the node's idempotency keys are derived from, if it is not
	// the node's own: after a reset nodes have other IDs and the same keys.
	Key string `json:"key,omitempty"`
	// Dialogues are those with other agents in the earlier turns and nodes.
	Dialogues delegation.Dialogues `json:"dialogues,omitzero"`
}

// NodeCarried is the state of a composite node that survives continue-as-new.
type NodeCarried struct {
	// Next is the next step, or iteration of a loop, from 0.
	Next int `json:"next"`
	// Reports is the number of reports sent, Seq the number of messages written.
	Reports int        `json:"reports"`
	Seq     int        `json:"seq"`
	Result  NodeResult `json:"result"`
}

// Outcome is the outcome of a node.
type Outcome string

// The outcomes.
const (
	OutcomeDone   Outcome = "done"
	OutcomeFailed Outcome = "failed"
	// OutcomeRejected means that a person rejected a call, and that the node does not continue
	// without it.
	OutcomeRejected  Outcome = "rejected"
	OutcomeCancelled Outcome = "cancelled"
)

// NodeResult is the result of a composite node. The node never fails: rejections, failures and
// cancellations are outcomes.
type NodeResult struct {
	Outcome Outcome `json:"outcome"`
	// Output is the node's output, or the reason for outcomes other than done.
	Output Text `json:"output"`
	// Delta has the values that the node set, in declared order.
	Delta      State      `json:"delta,omitempty"`
	Transcript Transcript `json:"transcript"`
	Usage      Usage      `json:"usage,omitzero"`
	Tree       NodeState  `json:"tree"`
	// Exit means that a node inside called exit_loop.
	Exit bool `json:"exit,omitempty"`
	// AuthRequired names the server or agent that requires the caller to log in.
	AuthRequired string `json:"auth_required,omitempty"`
	// Credential replaces the caller's if a decision brought one.
	Credential string `json:"credential,omitempty"`
	// Worked is the node's working time, without waiting for people.
	Worked time.Duration `json:"worked,omitempty"`
	// Granted is the sum of people's grants beyond the limits while it worked.
	Granted Limits `json:"granted,omitzero"`
	// Counts are the numbers of outcomes by leaf.
	Counts []Counts `json:"tally,omitempty"`
	// Dialogues are the node's part of NodeInput.Dialogues, with what changed.
	Dialogues []delegation.Dialogue `json:"dialogues,omitempty"`
}

// Counts are the outcomes of a leaf within a turn.
type Counts struct {
	Node     string `json:"node"`
	Done     int    `json:"done,omitempty"`
	Failed   int    `json:"failed,omitempty"`
	Rejected int    `json:"rejected,omitempty"`
}

// NodeStatus is the status of a node as the tree view shows it.
type NodeStatus string

// The statuses.
const (
	NodePending   NodeStatus = "pending" // not started
	NodeRunning   NodeStatus = "running"
	NodeWaiting   NodeStatus = "waiting" // for an approval
	NodeDone      NodeStatus = "done"
	NodeFailed    NodeStatus = "failed"
	NodeSkipped   NodeStatus = "skipped"
	NodeRejected  NodeStatus = "rejected"
	NodeCancelled NodeStatus = "cancelled"
)

// Over reports whether the node has ended.
func (s NodeStatus) Over() bool {
	switch s {
	case "", NodePending, NodeRunning, NodeWaiting:
		return false
	}
	return true
}

// NodeState is the state of a node and of the nodes inside it. A node that has not started is
// the zero value.
type NodeState struct {
	Status NodeStatus `json:"status,omitempty"`
	// Run is the workflow ID of a composite node.
	Run       string    `json:"run,omitempty"`
	StartedAt time.Time `json:"started_at,omitzero"`
	EndedAt   time.Time `json:"ended_at,omitzero"`
	Output    Text      `json:"output,omitzero"`
	Usage     Usage     `json:"usage,omitzero"`
	// Iteration counts the started iterations of a loop.
	Iteration int `json:"iteration,omitempty"`
	// Approvals are the UUIDs of the approvals that a leaf waits for.
	Approvals []string `json:"approvals,omitempty"`
	// Nodes are the states of the nodes inside, in declared order. If they are many, the first
	// of them are in the blob store as a JSON array, and Nodes has the rest.
	Nodes     []NodeState `json:"nodes,omitempty"`
	Offloaded *Blob       `json:"folded,omitempty"`
}

// Lost reports whether a composite node ended without the states of the nodes inside it.
func (s NodeState) Lost() bool {
	return s.Run != "" && s.Status.Over() && len(s.Nodes) == 0 && s.Offloaded == nil
}

// At returns the state of node i out of n, and whether it is inline.
func (s NodeState) At(i, n int) (NodeState, bool) {
	if s.Offloaded != nil {
		i -= n - len(s.Nodes)
	}
	if i < 0 {
		return NodeState{}, false
	}
	if i >= len(s.Nodes) {
		return NodeState{}, true
	}
	return s.Nodes[i], true
}

// NodeReports is the payload of the signal "report", which a composite node sends to its parent
// workflow: its own report, then the new ones of nodes inside it.
type NodeReports struct {
	// Urgent reports are passed on at once.
	Urgent  bool         `json:"urgent,omitempty"`
	Reports []NodeReport `json:"reports"`
}

// NodeReport is the progress of a composite node. Each report replaces the previous one.
type NodeReport struct {
	Turn int    `json:"turn"`
	Run  string `json:"run"`
	// Seq counts the reports of a run, from 1. A run that was reset counts from 1 again, as
	// another Execution.
	Seq        int        `json:"seq"`
	Execution  string     `json:"execution,omitempty"`
	Tree       NodeState  `json:"tree"`
	Transcript Transcript `json:"transcript"`
	// Waiting are the UUIDs of the approvals that wait in the node itself, not in composite
	// nodes inside it. Open has the new ones.
	Waiting []string       `json:"waiting,omitempty"`
	Open    []OpenApproval `json:"open,omitempty"`
	// State is the session state that the node's leaves see.
	State State `json:"state,omitempty"`
	// Decided lists the decisions since the previous report.
	Decided []ApprovalResult `json:"decided,omitempty"`
	// Lost lists the nodes inside that ended without a result since the previous report, ended
	// by an operator. Only their reports are left.
	Lost []string `json:"lost,omitempty"`
}

// OpenApproval is an approval that waits inside a tree.
type OpenApproval struct {
	Approval PendingApproval `json:"approval"`
	// OutputKey is the OutputKey of the leaf that asks.
	OutputKey string `json:"output_key,omitempty"`
}

// PipelineState is the position at which a tree has paused.
type PipelineState struct {
	Path        []int  `json:"path"`
	OutputKey   string `json:"output_key"`
	State       State  `json:"state"`
	UserMessage Text   `json:"user_message"`
}

// TreeView is the answer to the query "tree" of a conversation: its last turn.
type TreeView struct {
	ConversationID string `json:"conversation_id"`
	Turn           int    `json:"turn"`
	// Node is the tree without prompts.
	Node  Node      `json:"node"`
	State NodeState `json:"state"`
	// Running are the latest states of composite nodes that still run, and of lost ones; each
	// replaces the state with the same Run.
	Running []NodeState `json:"running,omitempty"`
}

// Follows reports whether a report is later than another report of the same node.
func (r NodeReport) Follows(last NodeReport) bool {
	return r.Execution != last.Execution || r.Seq > last.Seq
}
