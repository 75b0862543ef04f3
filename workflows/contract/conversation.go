package contract

import (
	"time"

	"agent-stop-and-go/workflows/contract/delegation"
	"agent-stop-and-go/workflows/contract/promptversion"
	"agent-stop-and-go/workflows/contract/toolchoice"
)

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
	// Owner started the conversation, zero without authentication. Proof proves it, and the Identity of First (package proof).
	Owner Identity `json:"owner,omitzero"`
	Proof string   `json:"proof,omitempty"`
	// ContextID groups conversations that belong together (A2A 1.0 §3.4).
	ContextID string `json:"context_id,omitempty"`
	// Task means that the conversation is an A2A task. It completes with the turn after which no message is left to answer.
	Task bool `json:"task,omitempty"`
	// Chain names the agents that have delegated the work, the nearest last.
	Chain []string `json:"chain,omitempty"`
	// Notify means that the workflow PushWorkflowID receives the states of the task.
	Notify bool `json:"notify,omitempty"`
	// First is the message that came with the start, if any.
	First *MessageSignal `json:"first,omitempty"`
	// Carried is the state of the previous run.
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
	// Tree is the state of the agent's tree in the last turn.
	Tree *NodeState `json:"tree,omitempty"`
	// Worked is the working time of all turns, Granted what people granted beyond the limits.
	Worked  time.Duration `json:"worked,omitempty"`
	Granted Limit         `json:"granted,omitzero"`
	// Summary replaces the oldest messages when the model is called.
	Summary *Summary  `json:"digest,omitempty"`
	Last    *LastTurn `json:"last,omitempty"`
	// Notify is set by the input, or by a signal since.
	Notify bool `json:"notify,omitempty"`
	// Refused counts the signals that the workflow itself has refused.
	Refused int64 `json:"refused,omitempty"`
	// Queue has the messages that wait for a turn, oldest first.
	Queue []MessageSignal `json:"queue,omitempty"`
	// Transferred are calls that the next turn begins with (package transfer).
	Transferred JSON `json:"transferred,omitzero"`
	// Model was chosen for the conversation, TurnModel for the last turn; see package choice.
	Model     string                `json:"model,omitempty"`
	TurnModel string                `json:"turn_model,omitempty"`
	Title     *Title                `json:"title,omitempty"`
	Prompts   []promptversion.Use   `json:"prompts,omitempty"`   // the newest last
	Dialogues []delegation.Dialogue `json:"dialogues,omitempty"` // with other agents
}

// Title is a title that somebody gave a conversation. Lists name others after their first
// message.
type Title struct {
	Text string `json:"text"`
	// By, OnBehalfOf and Identity are as in DecideSignal.
	By         string    `json:"by,omitempty"`
	OnBehalfOf string    `json:"on_behalf_of,omitempty"`
	Identity   Identity  `json:"identity,omitzero"`
	At         time.Time `json:"at"`
}

// LastTurn is the outcome of the last turn.
type LastTurn struct {
	Turn     int       `json:"turn"`
	Outcome  Outcome   `json:"outcome"`
	Response Text      `json:"response,omitzero"`
	EndedAt  time.Time `json:"ended_at"`
	// AuthRequired names the server or agent that requires the caller to log in.
	AuthRequired string `json:"auth_required,omitempty"`
}

// MessageSignal asks a conversation to answer a message (signal "message").
type MessageSignal struct {
	// RequestID makes a repeated signal harmless. A signal typed by hand may omit it.
	RequestID string `json:"request_id,omitempty"`
	// Fingerprint is a hash of the request. A used RequestID with another fingerprint is a
	// different request under a used key.
	Fingerprint string `json:"fingerprint,omitempty"`
	Text        Text   `json:"text"`
	// Preface becomes the Preface of the Message.
	Preface int `json:"preface,omitempty"`
	// Media are files that came with the message.
	Media []Media `json:"media,omitempty"`
	// Name is the sender's own ID of the message. It becomes the message's ClientID.
	Name string `json:"name,omitempty"`
	// Tools is a list of Tool that the turn offers and the sender executes. Their results come
	// as answers to approvals with ReasonClientTool.
	Tools JSON `json:"tools,omitzero"`
	// ToolChoice is what the sender demands of the calls of the turn.
	ToolChoice toolchoice.Choice `json:"tool_choice,omitzero"`
	// Echo is what the sender's protocol repeats in its replies; no model gets it.
	Echo JSON `json:"echo,omitzero"`
	// NoAnswer means that the message is never used as the answer to an open question.
	NoAnswer bool `json:"no_answer,omitempty"`
	// Model answers this message, and with KeepModel all later ones; "" is the conversation's.
	Model     string `json:"model,omitempty"`
	KeepModel bool   `json:"keep_model,omitempty"`
	// OutputSchema is the JSON Schema that the answer of an agent which is one llm node fits, unless
	// the node has one.
	OutputSchema JSON `json:"output_schema,omitzero"`
	// Credential is the caller's sealed bearer token (package credential).
	Credential string `json:"credential,omitempty"`
	// Identity is the sender, with the scopes that allowed the message; Proof is of package proof.
	Identity Identity `json:"identity,omitzero"`
	Proof    string   `json:"proof,omitempty"`
	// Groups and Scopes are all that are proven of the sender, if the agent has rules.
	Groups []string `json:"groups,omitempty"`
	Scopes []string `json:"scopes,omitempty"`
}

// Start is the part of the input of a new conversation that its Proof is about.
func (in ConversationInput) Start() map[string]any {
	return map[string]any{"owner": in.Owner, "first": in.First}
}

// CancelSignal stops the running turn (signal "cancel").
type CancelSignal struct {
	RequestID string `json:"request_id,omitempty"`
	Reason    string `json:"reason,omitempty"`
	// By, OnBehalfOf, Identity and Proof are as in DecideSignal.
	By         string   `json:"by,omitempty"`
	OnBehalfOf string   `json:"on_behalf_of,omitempty"`
	Identity   Identity `json:"identity,omitzero"`
	Proof      string   `json:"proof,omitempty"`
}

// CloseSignal ends the conversation (signal "close").
type CloseSignal struct {
	RequestID string `json:"request_id,omitempty"`
	Reason    string `json:"reason,omitempty"`
	// UnchangedSince has the signal ignored by a conversation that has changed since then, or in
	// which a turn runs or waits.
	UnchangedSince time.Time `json:"unchanged_since,omitzero"`
	// By, OnBehalfOf, Identity and Proof are as in DecideSignal.
	By         string   `json:"by,omitempty"`
	OnBehalfOf string   `json:"on_behalf_of,omitempty"`
	Identity   Identity `json:"identity,omitzero"`
	Proof      string   `json:"proof,omitempty"`
}

// Result is the answer of a settled request; the "result" of the REST API.
type Result struct {
	Response        Text             `json:"response"`
	WaitingApproval bool             `json:"waiting_approval"`
	Approval        *PendingApproval `json:"approval,omitempty"`
	AuthRequired    bool             `json:"auth_required"`
}

// Request is the record of a request. A conversation keeps all open requests, the last
// RememberedRequests settled ones, and the results of the last RememberedAnswers.
type Request struct {
	ID          string `json:"id"`
	Fingerprint string `json:"fingerprint,omitempty"`
	Settled     bool   `json:"settled,omitempty"`
	// Refused says why the request was not carried out: KindWaiting, KindCompleted,
	// KindBusy, KindTooLarge or, for a message that answers a question, KindInvalid or
	// KindDecided. Nothing was recorded then.
	Refused Kind    `json:"refused,omitempty"`
	Result  *Result `json:"result,omitempty"`
	// Predicted means that the request was not sent, and that this would be its answer.
	Predicted bool `json:"foreseen,omitempty"`
}

// Bounds of the past requests that a conversation keeps.
const (
	RememberedRequests = 256
	RememberedAnswers  = 64
)

// AwaitInput is the argument of the update "await_settled": the requests whose
// answers the caller waits for. It returns when at least one has settled.
type AwaitInput struct {
	RequestIDs []string `json:"request_ids"`
}

// TypeAwaitRefused is the failure type of an update that a conversation rejects because many
// have waited in vain. The caller reads the answer with the query instead.
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
	Owner      Identity   `json:"owner,omitzero"`
	Status     Status     `json:"status"`
	Transcript Transcript `json:"transcript"`
	// Pending lists the open approvals, oldest first.
	Pending []PendingApproval `json:"pending,omitempty"`
	// Pipeline says where a tree has paused for the first of them.
	Pipeline *PipelineState `json:"pipeline,omitempty"`
	// Running means that a turn works and no approval waits. Queued messages wait for a turn.
	Running   bool      `json:"running,omitempty"`
	Queued    int       `json:"queued,omitempty"`
	Usage     Usage     `json:"usage,omitzero"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	Version   int64     `json:"version"`
	// Request is filled only when the query asks for a request.
	Request *Request `json:"request,omitempty"`
	// Refused counts the signals that arrived although the gateway refuses such signals.
	Refused int64 `json:"refused,omitempty"`
	// Task, Chain, Last, Title, Model and Prompts are as in the input and in Carried.
	Task    bool                `json:"task,omitempty"`
	Chain   []string            `json:"chain,omitempty"`
	Last    *LastTurn           `json:"last,omitempty"`
	Title   *Title              `json:"title,omitempty"`
	Model   string              `json:"model,omitempty"`
	Prompts []promptversion.Use `json:"prompts,omitempty"`
}

// ConversationQuery is the optional argument of the query "conversation".
type ConversationQuery struct {
	RequestID string `json:"request_id,omitempty"`
	// Signal names the signal that the request would be sent with. If the conversation would
	// refuse it, and does not have the request, the answer's Request is the predicted one.
	Signal string `json:"signal,omitempty"`
	// Text, NoAnswer and Model are those of a message. Text may also be a title.
	Text     Text   `json:"text,omitzero"`
	NoAnswer bool   `json:"no_answer,omitempty"`
	Model    string `json:"model,omitempty"`
	// Size is the size of the message in history, in bytes.
	Size int `json:"size,omitempty"`
}

// ConversationResult is the result of a Conversation workflow.
type ConversationResult struct {
	ID       string `json:"id"`
	Status   Status `json:"status"`
	Messages int    `json:"messages"`
	Turns    int    `json:"turns"`
	Reason   string `json:"reason,omitempty"`
	Usage    Usage  `json:"usage,omitzero"`
	// Outcome is the outcome of the last turn.
	Outcome Outcome `json:"outcome,omitempty"`
	// ClosedBy is who closed the conversation, if it is known.
	ClosedBy Identity `json:"closed_by,omitzero"`
}

// Usage is the usage of model calls.
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
