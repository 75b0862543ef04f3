package contract

import "time"

// NodeInput starts a composite node. The workflow ID is NodeWorkflowID.
type NodeInput struct {
	ConversationID string `json:"conversation_id"`
	SessionID      string `json:"session_id,omitempty"`
	// Chain is the conversation's.
	Chain []string `json:"chain,omitempty"`
	// Agent is the conversation's agent without its prompt and its tree.
	Agent Agent `json:"agent"`
	// ConfigHash is the Hash of the whole agent.
	ConfigHash string `json:"config_hash"`
	Turn       int    `json:"turn"`
	// Path is the node's place in the tree: child indices from the root.
	Path []int `json:"path"`
	Node Node  `json:"node"`
	// User is the message that the turn answers.
	User Message `json:"user"`
	// ClientTools are those that came with User.
	ClientTools JSON `json:"client_tools,omitzero"`
	// History is the conversation up to and with User, for nodes that see it.
	History *Transcript `json:"history,omitempty"`
	State   State       `json:"state,omitempty"`
	// Credential is the caller's sealed token.
	Credential string `json:"credential,omitempty"`
	// Budget is how long the node may work; zero is for ever.
	Budget time.Duration `json:"budget,omitempty"`
	// Spent is what was spent before, in the turn and in the conversation.
	Spent   Spent        `json:"spent,omitzero"`
	Carried *NodeCarried `json:"carried,omitempty"`
	// Key is the workflow ID that the idempotency keys of the node's work are made from, if
	// it is not the node's own: after a reset nodes get other IDs, and the same keys.
	Key string `json:"key,omitempty"`
}

// NodeCarried is what a continued run of a composite node takes over.
type NodeCarried struct {
	// Next is the step, or the iteration of a loop, that comes next. From 0.
	Next int `json:"next"`
	// Reports is how many reports were sent, Seq how many messages written.
	Reports int        `json:"reports"`
	Seq     int        `json:"seq"`
	Result  NodeResult `json:"result"`
}

// Outcome is how a node ended.
type Outcome string

// The outcomes.
const (
	OutcomeDone   Outcome = "done"
	OutcomeFailed Outcome = "failed"
	// OutcomeRejected: a person rejected a call, and the node does not go on
	// without it.
	OutcomeRejected  Outcome = "rejected"
	OutcomeCancelled Outcome = "cancelled"
)

// NodeResult is what a composite node completes with. It is never an error: a
// rejection, a failure and a cancellation are outcomes.
type NodeResult struct {
	Outcome Outcome `json:"outcome"`
	// Output is the node's output: for outcomes other than done, why.
	Output Text `json:"output"`
	// Delta are the values that the node set, in declared order.
	Delta      State      `json:"delta,omitempty"`
	Transcript Transcript `json:"transcript"`
	Usage      Usage      `json:"usage,omitzero"`
	Tree       NodeState  `json:"tree"`
	// Exit: a node inside called exit_loop.
	Exit bool `json:"exit,omitempty"`
	// AuthRequired names the server or agent that wants the caller to log in.
	AuthRequired string `json:"auth_required,omitempty"`
	// Credential replaces the caller's when a decision brought one.
	Credential string `json:"credential,omitempty"`
	// Worked is how long the node worked, without the waiting for people.
	Worked time.Duration `json:"worked,omitempty"`
	// Granted is what people have granted beyond the limits while it worked.
	Granted Grants `json:"granted,omitzero"`
	// Tally counts how often each leaf ended, and how.
	Tally []Tally `json:"tally,omitempty"`
}

// Tally counts the ends of a leaf within a turn.
type Tally struct {
	Node     string `json:"node"`
	Done     int    `json:"done,omitempty"`
	Failed   int    `json:"failed,omitempty"`
	Rejected int    `json:"rejected,omitempty"`
}

// NodeStatus is the state of a node as a picture of the tree shows it.
type NodeStatus string

// The statuses.
const (
	NodePending   NodeStatus = "pending" // its turn has not come
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

// NodeState is the state of a node and of those inside it. A node whose turn has
// not come is the zero value.
type NodeState struct {
	Status NodeStatus `json:"status,omitempty"`
	// Run is the workflow ID of a composite node.
	Run       string    `json:"run,omitempty"`
	StartedAt time.Time `json:"started_at,omitzero"`
	EndedAt   time.Time `json:"ended_at,omitzero"`
	Output    Text      `json:"output,omitzero"`
	Usage     Usage     `json:"usage,omitzero"`
	// Iteration counts those of a loop that have begun.
	Iteration int `json:"iteration,omitempty"`
	// Approvals are the UUIDs of the approvals that a leaf waits for.
	Approvals []string `json:"approvals,omitempty"`
	// Nodes are the states of the nodes inside, in declared order. When they are
	// many, the first of them live in the blob store as a JSON array, and Nodes
	// has the rest.
	Nodes  []NodeState `json:"nodes,omitempty"`
	Folded *Blob       `json:"folded,omitempty"`
}

// Lost reports whether a composite node ended without telling of those inside it.
func (s NodeState) Lost() bool {
	return s.Run != "" && s.Status.Over() && len(s.Nodes) == 0 && s.Folded == nil
}

// At returns the state of node i out of n, and whether it is inline.
func (s NodeState) At(i, n int) (NodeState, bool) {
	if s.Folded != nil {
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

// NodeReports is the payload of the signal "report", which a composite node sends
// to the workflow around it: its own report, then those of nodes inside it that
// are new. On their way to the conversation reports pass every node around.
type NodeReports struct {
	// Urgent reports are passed on at once.
	Urgent  bool         `json:"urgent,omitempty"`
	Reports []NodeReport `json:"reports"`
}

// NodeReport tells how far a composite node has come. Each report replaces the
// one before it.
type NodeReport struct {
	Turn int    `json:"turn"`
	Run  string `json:"run"`
	// Seq counts the reports of a run, from 1. A run that was reset counts anew, as another
	// Execution.
	Seq        int        `json:"seq"`
	Execution  string     `json:"execution,omitempty"`
	Tree       NodeState  `json:"tree"`
	Transcript Transcript `json:"transcript"`
	// Waiting are the UUIDs of the approvals that wait in the node itself, not in
	// composite nodes inside it. Open describes those that are new.
	Waiting []string       `json:"waiting,omitempty"`
	Open    []OpenApproval `json:"open,omitempty"`
	// State is the session state that the node's leaves see.
	State State `json:"state,omitempty"`
	// Decided lists the decisions since the report before.
	Decided []ApprovalResult `json:"decided,omitempty"`
	// Lost lists the nodes inside that ended without a result since the report
	// before: stopped by an operator's hand. What they had reported is all there is.
	Lost []string `json:"lost,omitempty"`
}

// OpenApproval is an approval that waits inside a tree.
type OpenApproval struct {
	Approval PendingApproval `json:"approval"`
	// OutputKey is that of the leaf that asks.
	OutputKey string `json:"output_key,omitempty"`
}

// PipelineState says where a tree has paused.
type PipelineState struct {
	Path        []int  `json:"path"`
	OutputKey   string `json:"output_key"`
	State       State  `json:"state"`
	UserMessage Text   `json:"user_message"`
}

// TreeView is what the query "tree" of a conversation returns: its last turn.
type TreeView struct {
	ConversationID string `json:"conversation_id"`
	Turn           int    `json:"turn"`
	// Node is the tree without prompts.
	Node  Node      `json:"node"`
	State NodeState `json:"state"`
	// Running are the latest states of composite nodes that still run, and of those
	// that were lost; each takes the place of the state with the same Run.
	Running []NodeState `json:"running,omitempty"`
}

// Follows reports whether a report is later than another one of the same node.
func (r NodeReport) Follows(last NodeReport) bool {
	return r.Execution != last.Execution || r.Seq > last.Seq
}
