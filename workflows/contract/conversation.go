package contract

import "time"

// Status of a conversation.
type Status string

// The statuses.
const (
	StatusActive          Status = "active"
	StatusWaitingApproval Status = "waiting_approval"
	StatusCompleted       Status = "completed"
)

// ConversationInput starts a Conversation. The workflow ID is
// ConversationWorkflowID(ID).
type ConversationInput struct {
	ID        string `json:"id"`
	SessionID string `json:"session_id,omitempty"`
	Agent     Agent  `json:"agent"`
	// ContextID groups conversations that belong together (A2A 1.0 §3.4).
	ContextID string `json:"context_id,omitempty"`
	// Task: the conversation is a task of A2A. It ends with the turn after which nothing
	// is left to be answered.
	Task bool `json:"task,omitempty"`
	// Chain names the agents through which the work has come, the nearest last.
	Chain []string `json:"chain,omitempty"`
	// Notify: the workflow PushWorkflowID is told how the task fares.
	Notify bool `json:"notify,omitempty"`
	// First is the message that came with the start, if any.
	First *MessageSignal `json:"first,omitempty"`
	// Carried is what a continued run takes over from the run before it.
	Carried *Carried `json:"carried,omitempty"`
}

// Carried is the state that survives continue-as-new.
type Carried struct {
	CreatedAt   time.Time  `json:"created_at"`
	UpdatedAt   time.Time  `json:"updated_at"`
	Version     int64      `json:"version"`
	Seq         int        `json:"seq"`
	Turn        int        `json:"turn"`
	Transcript  Transcript `json:"transcript"`
	Requests    []Request  `json:"requests"`
	Usage       Usage      `json:"usage,omitzero"`
	ExportOwing bool       `json:"export_owing,omitempty"`
	// Tree is how the last turn went through the agent's tree.
	Tree *NodeState `json:"tree,omitempty"`
	// Worked is how long turns have worked, and Granted what people have granted
	// beyond the conversation's limits.
	Worked  time.Duration `json:"worked,omitempty"`
	Granted Limit         `json:"granted,omitzero"`
	// Digest stands in for the oldest messages when the model is asked.
	Digest *Digest   `json:"digest,omitempty"`
	Last   *LastTurn `json:"last,omitempty"`
	// Notify is that of the input, or has been asked for since.
	Notify bool `json:"notify,omitempty"`
	// Refused counts the signals that the workflow itself has refused.
	Refused int64 `json:"refused,omitempty"`
	// Queue are the messages that wait for their turn, oldest first.
	Queue []MessageSignal `json:"queue,omitempty"`
}

// LastTurn is how the latest turn that has ended did so.
type LastTurn struct {
	Turn     int       `json:"turn"`
	Outcome  Outcome   `json:"outcome"`
	Response Text      `json:"response,omitzero"`
	EndedAt  time.Time `json:"ended_at"`
	// AuthRequired names the server or agent that wants the caller to log in.
	AuthRequired string `json:"auth_required,omitempty"`
}

// MessageSignal asks a conversation to answer a message (signal "message").
type MessageSignal struct {
	// RequestID makes a repeated signal harmless. A message typed by hand may
	// leave it out.
	RequestID string `json:"request_id,omitempty"`
	// Fingerprint is a hash of the request; the same RequestID with another
	// fingerprint is a different request under a used key.
	Fingerprint string `json:"fingerprint,omitempty"`
	Text        Text   `json:"text"`
	// Preface becomes that of the Message.
	Preface int `json:"preface,omitempty"`
	// Media are files that came with the message.
	Media []Media `json:"media,omitempty"`
	// Name is the ID by which the sender knows the message. It becomes its Draft.
	Name string `json:"name,omitempty"`
	// Tools is a list of Tool: they are on offer in the turn and called by the sender.
	// Their results come as answers to approvals with ReasonClientTool.
	Tools JSON `json:"tools,omitzero"`
	// NoAnswer: the message is never the answer to a question that waits.
	NoAnswer bool `json:"no_answer,omitempty"`
	// Credential is the caller's sealed bearer token (package credential).
	Credential string `json:"credential,omitempty"`
}

// CancelSignal stops the running turn (signal "cancel").
type CancelSignal struct {
	RequestID string `json:"request_id,omitempty"`
	Reason    string `json:"reason,omitempty"`
	By        string `json:"by,omitempty"`
}

// CloseSignal ends the conversation (signal "close").
type CloseSignal struct {
	RequestID string `json:"request_id,omitempty"`
	Reason    string `json:"reason,omitempty"`
	By        string `json:"by,omitempty"`
}

// Result is what a request settled to; the "result" of the REST API.
type Result struct {
	Response        Text             `json:"response"`
	WaitingApproval bool             `json:"waiting_approval"`
	Approval        *PendingApproval `json:"approval,omitempty"`
	AuthRequired    bool             `json:"auth_required"`
}

// Request is what a conversation remembers of a request: those that are open,
// the last RememberedRequests that settled, and the last RememberedAnswers
// answers.
type Request struct {
	ID          string `json:"id"`
	Fingerprint string `json:"fingerprint,omitempty"`
	Settled     bool   `json:"settled,omitempty"`
	// Refused says why the request was not carried out: KindWaiting, KindCompleted,
	// KindBusy, KindTooLarge or, for a message that answers a question, KindInvalid or
	// KindDecided. Nothing was recorded then.
	Refused Kind    `json:"refused,omitempty"`
	Result  *Result `json:"result,omitempty"`
	// Foreseen: the request has not been sent. This is what it would settle to.
	Foreseen bool `json:"foreseen,omitempty"`
}

// How much a conversation remembers of past requests.
const (
	RememberedRequests = 256
	RememberedAnswers  = 64
)

// AwaitInput is the argument of the update "await_settled": the requests whose
// answers the caller waits for. It returns when at least one has settled.
type AwaitInput struct {
	RequestIDs []string `json:"request_ids"`
}

// TypeAwaitRefused is the type of the failure of an update that a conversation does not
// take: many have waited for nothing. Its callers read the answer with the query.
const TypeAwaitRefused = "AwaitRefused"

// AwaitResult is the result of the update "await_settled".
type AwaitResult struct {
	Settled      []Request        `json:"settled"`
	Conversation ConversationView `json:"conversation"`
}

// ConversationView is a conversation as the query "conversation" returns it.
type ConversationView struct {
	ID         string     `json:"id"`
	SessionID  string     `json:"session_id,omitempty"`
	ContextID  string     `json:"context_id,omitempty"`
	AgentName  string     `json:"agent_name,omitempty"`
	Status     Status     `json:"status"`
	Transcript Transcript `json:"transcript"`
	// Pending lists the open approvals, oldest first.
	Pending []PendingApproval `json:"pending,omitempty"`
	// Pipeline says where a tree has paused for the first of them.
	Pipeline *PipelineState `json:"pipeline,omitempty"`
	// Running tells that an answer is being worked on; it is not while an
	// approval waits. Queued is how many messages wait for their turn.
	Running   bool      `json:"running,omitempty"`
	Queued    int       `json:"queued,omitempty"`
	Usage     Usage     `json:"usage,omitzero"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	Version   int64     `json:"version"`
	// Request is filled only when the query asks for a request.
	Request *Request `json:"request,omitempty"`
	// Refused counts the signals that came although the gateway refuses their like.
	Refused int64 `json:"refused,omitempty"`
	// Task, Chain and Last are those of the input and of Carried.
	Task  bool      `json:"task,omitempty"`
	Chain []string  `json:"chain,omitempty"`
	Last  *LastTurn `json:"last,omitempty"`
}

// ConversationQuery is the optional argument of the query "conversation".
type ConversationQuery struct {
	RequestID string `json:"request_id,omitempty"`
	// Signal names the signal that the request would be sent with. When the
	// conversation would not carry it out, and does not know the request, Request is
	// what it would settle to.
	Signal string `json:"signal,omitempty"`
	// Text and NoAnswer are those of a message.
	Text     Text `json:"text,omitzero"`
	NoAnswer bool `json:"no_answer,omitempty"`
	// Size is how many bytes of history the message takes.
	Size int `json:"size,omitempty"`
}

// ConversationResult is what a Conversation workflow completes with.
type ConversationResult struct {
	ID       string `json:"id"`
	Status   Status `json:"status"`
	Messages int    `json:"messages"`
	Turns    int    `json:"turns"`
	Reason   string `json:"reason,omitempty"`
	Usage    Usage  `json:"usage,omitzero"`
	// Outcome is that of the last turn.
	Outcome Outcome `json:"outcome,omitempty"`
}

// Usage counts what calls of models took.
type Usage struct {
	InputTokens  int64 `json:"input_tokens,omitempty"`
	OutputTokens int64 `json:"output_tokens,omitempty"`
	CachedTokens int64 `json:"cached_tokens,omitempty"` // of the input
	// Calls counts the calls that were answered.
	Calls int64 `json:"calls,omitempty"`
	// Cost is in billionths of the currency that prices are given in.
	Cost int64 `json:"cost_nanos,omitempty"`
}

// Add returns the sum.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		InputTokens: u.InputTokens + v.InputTokens, OutputTokens: u.OutputTokens + v.OutputTokens,
		CachedTokens: u.CachedTokens + v.CachedTokens, Calls: u.Calls + v.Calls, Cost: u.Cost + v.Cost,
	}
}
