package client

import (
	"encoding/json"
	"time"
)

// Status is the status of a conversation.
type Status string

// The statuses of conversations.
const (
	StatusActive    Status = "active"
	StatusWaiting   Status = "waiting_approval"
	StatusCompleted Status = "completed"
)

// Item is a conversation in a list.
type Item struct {
	ID        string    `json:"id"`
	ShortID   string    `json:"short_id,omitempty"`
	SessionID string    `json:"session_id,omitempty"`
	AgentName string    `json:"agent_name,omitempty"`
	Title     string    `json:"title,omitempty"`
	Status    Status    `json:"status"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	// Excerpt is the place in the text where a search has found a word.
	Excerpt string `json:"excerpt,omitempty"`
}

// Summary counts conversations by status.
type Summary struct {
	Total           int64 `json:"total"`
	Active          int64 `json:"active"`
	WaitingApproval int64 `json:"waiting_approval"`
	Completed       int64 `json:"completed"`
}

// Conversation is a conversation with its messages.
type Conversation struct {
	ID               string          `json:"id"`
	SessionID        string          `json:"session_id,omitempty"`
	Status           Status          `json:"status"`
	Messages         []Message       `json:"messages"`
	PendingApproval  *Approval       `json:"pending_approval,omitempty"`
	PendingApprovals []Approval      `json:"pending_approvals,omitempty"`
	PipelineState    json.RawMessage `json:"pipeline_state,omitempty"`
	CreatedAt        time.Time       `json:"created_at"`
	UpdatedAt        time.Time       `json:"updated_at"`
	Agent            string          `json:"agent,omitempty"`
	Running          bool            `json:"running,omitempty"`
	Queued           int             `json:"queued,omitempty"`
	Usage            *Usage          `json:"usage,omitempty"`
	Owner            *Identity       `json:"owner,omitempty"`
	Version          int64           `json:"version"`
	// MessagesBefore is the number of messages before those in Messages.
	MessagesBefore int `json:"messages_before,omitempty"`
	// Title is the title that somebody gave the conversation, and Renamed is who, and when.
	Title   string   `json:"title,omitempty"`
	Renamed *Renamed `json:"renamed,omitempty"`
	// Model was chosen for all messages that name none.
	Model string `json:"model,omitempty"`
	// Prompts are the system prompts that it has had, the newest last.
	Prompts []PromptUse `json:"prompts,omitempty"`
	Problem string      `json:"problem,omitempty"`
	AsOf    *time.Time  `json:"as_of,omitempty"`
}

// PromptUse is a prompt that a conversation has had from a time on.
type PromptUse struct {
	Source   string          `json:"source"`
	Number   int             `json:"version,omitempty"`
	Digest   string          `json:"digest,omitempty"`
	Sections []PromptSection `json:"sections,omitempty"`
	More     int             `json:"more_sections,omitempty"`
	Fallback string          `json:"fallback,omitempty"`
	At       time.Time       `json:"at"`
	By       string          `json:"by,omitempty"`
}

// PromptSection is a section, and what identifies its text.
type PromptSection struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
}

// Renamed says who gave a conversation its title, and when.
type Renamed struct {
	By         string    `json:"by,omitempty"`
	OnBehalfOf string    `json:"on_behalf_of,omitempty"`
	Identity   *Identity `json:"identity,omitempty"`
	At         time.Time `json:"at"`
}

// Message is a message of a conversation.
type Message struct {
	ID        string    `json:"id"`
	Role      string    `json:"role"`
	Content   string    `json:"content"`
	ToolCall  *ToolCall `json:"tool_call,omitempty"`
	Node      string    `json:"node,omitempty"`
	Approval  *Decision `json:"approval,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	Model     string    `json:"model,omitempty"`
	Draft     string    `json:"draft,omitempty"`
	Usage     *Usage    `json:"usage,omitempty"`
	Identity  *Identity `json:"identity,omitempty"`
	Media     []Media   `json:"media,omitempty"`
}

// ToolCall is a call, or the result of one, which has no arguments.
type ToolCall struct {
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Result    string          `json:"result,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
	Note      string          `json:"note,omitempty"`
	Media     []Media         `json:"media,omitempty"`
	Verdict   *Verdict        `json:"verdict,omitempty"`
}

// Verdict is what the agent's named rules say about a call.
type Verdict struct {
	Outcome string `json:"outcome"`
	Rule    string `json:"rule"`
	Policy  string `json:"policy"`
	Text    string `json:"text,omitempty"`
	// Facts are what the tool's server said of the call, by the names of the facts.
	Facts json.RawMessage `json:"facts,omitempty"`
}

// Media is an image, a sound or a file.
type Media struct {
	MIMEType string `json:"mime_type"`
	Size     int64  `json:"size"`
	SHA256   string `json:"sha256"`
	Name     string `json:"name,omitempty"`
}

// Usage is what calls of models took.
type Usage struct {
	InputTokens  int64       `json:"input_tokens,omitempty"`
	OutputTokens int64       `json:"output_tokens,omitempty"`
	CachedTokens int64       `json:"cached_tokens,omitempty"`
	Calls        int64       `json:"calls,omitempty"`
	Cost         json.Number `json:"cost,omitempty"`
}

// Identity is a caller who proved who they are.
type Identity struct {
	Subject string   `json:"subject,omitempty"`
	Issuer  string   `json:"issuer,omitempty"`
	Groups  []string `json:"groups,omitempty"`
	Scopes  []string `json:"scopes,omitempty"`
	Channel string   `json:"channel,omitempty"`
}

// Result is the result of a turn.
type Result struct {
	Response        string    `json:"response"`
	WaitingApproval bool      `json:"waiting_approval"`
	Approval        *Approval `json:"approval,omitempty"`
	AuthRequired    bool      `json:"auth_required"`
}

// Approval is what a person decides about. Its arguments are the very bytes of the call.
type Approval struct {
	UUID            string          `json:"uuid"`
	ConversationID  string          `json:"conversation_id"`
	ToolName        string          `json:"tool_name"`
	ToolArgs        json.RawMessage `json:"tool_args"`
	Description     string          `json:"description"`
	Reason          Reason          `json:"reason,omitempty"`
	ToolArgsSHA256  string          `json:"tool_args_sha256,omitempty"`
	Node            string          `json:"node,omitempty"`
	NodePath        []int           `json:"node_path,omitempty"`
	RemoteTaskID    string          `json:"remote_task_id,omitempty"`
	RemoteAgentName string          `json:"remote_agent_name,omitempty"`
	CreatedAt       time.Time       `json:"created_at"`
	Schema          json.RawMessage `json:"schema,omitempty"`
	Accepts         string          `json:"accepts,omitempty"`
	Call            string          `json:"call,omitempty"`
	Explanation     string          `json:"explanation,omitempty"`
	Origin          *Origin         `json:"origin,omitempty"`
	Binding         *Binding        `json:"binding,omitempty"`
	Granted         *Binding        `json:"granted,omitempty"`
	Approvers       []string        `json:"approvers,omitempty"`
	AgentName       string          `json:"agent_name,omitempty"`
	Server          string          `json:"server,omitempty"`
	Chain           []string        `json:"chain,omitempty"`
	Because         string          `json:"because,omitempty"`
	Requester       *Identity       `json:"requester,omitempty"`
	Rule            string          `json:"rule,omitempty"`
	Policy          string          `json:"policy,omitempty"`
	ExpiresAt       *time.Time      `json:"expires_at,omitempty"`
	Login           *Login          `json:"login,omitempty"`
	// Edit are the arguments that whoever approves may change.
	Edit []string `json:"edit,omitempty"`
	// Always is what whoever approves may grant for later calls, too; see PreviewAlways.
	Always *AlwaysOffer `json:"always,omitempty"`
	// Continues is what a delegation continues at the other agent.
	Continues *Continues `json:"continues,omitempty"`
}

// Continues is a task of another agent that ended, in one of its contexts.
type Continues struct {
	ContextID string    `json:"context_id,omitempty"`
	TaskID    string    `json:"task_id,omitempty"`
	EndedAt   time.Time `json:"ended_at,omitzero"`
	// Since is when the first task of the context ended.
	Since time.Time `json:"since,omitzero"`
}

// Login is what a call waits for that needs a token of a person.
type Login struct {
	Server string `json:"server"`
	Agent  bool   `json:"agent,omitempty"`
	// Way is "server" for a login to the server, and "agent" for a new token of the caller.
	Way    string `json:"way"`
	URL    string `json:"url,omitempty"`
	Caller string `json:"caller,omitempty"`
	Why    string `json:"why,omitempty"`
}

// Reason is why an approval waits.
type Reason string

// The reasons of approvals.
const (
	ReasonDestructive    Reason = "destructive"
	ReasonUnknownOutcome Reason = "unknown_outcome"
	ReasonNotReached     Reason = "not_reached"
	ReasonChanged        Reason = "changed"
	ReasonRemote         Reason = "remote"
	ReasonQuestion       Reason = "question"
	ReasonLimit          Reason = "limit"
	ReasonClientTool     Reason = "client_tool"
	ReasonPaused         Reason = "paused"
	ReasonLogin          Reason = "login"
)

// NeedsContent reports whether only content decides it: the fields of a form, or the result of
// a call that the front end makes.
func (a Approval) NeedsContent() bool {
	return a.Reason == ReasonQuestion || a.Reason == ReasonClientTool ||
		a.Reason == ReasonRemote && len(a.Schema) > 0 && !a.IsDoubtful()
}

// IsDoubtful reports whether it is about a call of which nobody knows whether it ran, here or at
// another agent.
func (a Approval) IsDoubtful() bool {
	return a.Reason == ReasonUnknownOutcome || a.Origin != nil && a.Origin.Reason == ReasonUnknownOutcome
}

// IsPaused reports whether a switch pauses the call, here or at another agent: it goes on by
// itself, and only a no decides it.
func (a Approval) IsPaused() bool {
	return a.Reason == ReasonPaused || a.Origin != nil && a.Origin.Reason == ReasonPaused
}

// NeedsLogin reports whether the call waits for a login, here or at another agent: it goes on by
// itself, and only a no decides it.
func (a Approval) NeedsLogin() bool {
	return a.Reason == ReasonLogin || a.Origin != nil && a.Origin.Reason == ReasonLogin
}

// Origin is the call behind an approval that another agent asks for.
type Origin struct {
	Chain           []string        `json:"chain"`
	UUID            string          `json:"uuid,omitempty"`
	Tool            string          `json:"tool,omitempty"`
	Arguments       json.RawMessage `json:"arguments,omitempty"`
	ArgumentsSHA256 string          `json:"arguments_sha256,omitempty"`
	Reason          Reason          `json:"reason,omitempty"`
	Description     string          `json:"description,omitempty"`
	Schema          json.RawMessage `json:"schema,omitempty"`
	Accepts         string          `json:"accepts,omitempty"`
}

// Binding says where an approved call goes.
type Binding struct {
	Address          string `json:"address"`
	DefinitionSHA256 string `json:"definition_sha256,omitempty"`
}

// Decision is the record of a decision.
type Decision struct {
	UUID            string    `json:"uuid"`
	ConversationID  string    `json:"conversation_id"`
	Tool            string    `json:"tool"`
	ArgumentsSHA256 string    `json:"arguments_sha256,omitempty"`
	Decision        string    `json:"decision"`
	By              string    `json:"by,omitempty"`
	Reason          string    `json:"reason,omitempty"`
	Chain           []string  `json:"chain,omitempty"`
	Via             string    `json:"via,omitempty"`
	RequestID       string    `json:"request_id,omitempty"`
	RequestedAt     time.Time `json:"requested_at"`
	DecidedAt       time.Time `json:"decided_at"`
	Outcome         string    `json:"outcome,omitempty"`
	OnBehalfOf      string    `json:"on_behalf_of,omitempty"`
	// For is by which deputy, and so in whose place, it was decided.
	For      *Deputy   `json:"for,omitempty"`
	Identity *Identity `json:"identity,omitempty"`
	// Revision is the call as it was approved, if it was approved with changes.
	Revision *Revision `json:"revision,omitempty"`
	// Policy is the version of the rules under which it was decided.
	Policy string `json:"policy,omitempty"`
	// Always is what was granted for later calls, too.
	Always *Always `json:"always,omitempty"`
}

// Revision is a call that was approved with changes.
type Revision struct {
	Call            string          `json:"call,omitempty"`
	Arguments       json.RawMessage `json:"arguments"`
	ArgumentsSHA256 string          `json:"arguments_sha256"`
	Changes         []Change        `json:"changes"`
	EditSHA256      string          `json:"edit_sha256,omitempty"`
	Verdict         *Verdict        `json:"verdict,omitempty"`
	Policy          string          `json:"policy,omitempty"`
	// Released: nobody has approved it with this; an operator has released the call.
	Released bool `json:"released,omitempty"`
}

// Change is a changed argument. Before and After are JSON, and may be cut.
type Change struct {
	Name   string `json:"name"`
	Before string `json:"before,omitempty"`
	After  string `json:"after"`
}

// WaitingApproval is an approval in a list. Long arguments are cut there.
type WaitingApproval struct {
	UUID                 string          `json:"uuid"`
	ConversationID       string          `json:"conversation_id"`
	SessionID            string          `json:"session_id,omitempty"`
	AgentName            string          `json:"agent_name,omitempty"`
	ToolName             string          `json:"tool_name"`
	CreatedAt            time.Time       `json:"created_at"`
	Server               string          `json:"server,omitempty"`
	Node                 string          `json:"node,omitempty"`
	NodePath             []int           `json:"node_path,omitempty"`
	Chain                []string        `json:"chain,omitempty"`
	Reason               Reason          `json:"reason,omitempty"`
	Because              string          `json:"because,omitempty"`
	Requester            *Identity       `json:"requester,omitempty"`
	Rule                 string          `json:"rule,omitempty"`
	Policy               string          `json:"policy,omitempty"`
	Description          string          `json:"description,omitempty"`
	DescriptionTruncated bool            `json:"description_truncated,omitempty"`
	ToolArgs             json.RawMessage `json:"tool_args,omitempty"`
	ToolArgsTruncated    bool            `json:"tool_args_truncated,omitempty"`
	ToolArgsPreview      string          `json:"tool_args_preview,omitempty"`
	ToolArgsSHA256       string          `json:"tool_args_sha256,omitempty"`
	Answer               string          `json:"answer,omitempty"`
	ExpiresAt            *time.Time      `json:"expires_at,omitempty"`
	Approvers            []string        `json:"approvers,omitempty"`
	DeferredUntil        *time.Time      `json:"deferred_until,omitempty"`
	// Reminded is when people were reminded of it.
	Reminded []time.Time `json:"reminded_at,omitempty"`
	// Judgements are what rules say that have changed since.
	Judgements []Judgement `json:"judgements,omitempty"`
	URL        string      `json:"url"`
}

// ApprovalState is an approval and what became of it.
type ApprovalState struct {
	Approval Approval `json:"approval"`
	// Status is pending, or the decision.
	Status   string    `json:"status"`
	Decision *Decision `json:"decision,omitempty"`
	// TemporalIdentity is what the client of Temporal that typed the decision calls itself.
	// Nothing proves it.
	TemporalIdentity string `json:"temporal_identity,omitempty"`
	// Problem is why the last answer was not taken.
	Problem string          `json:"problem,omitempty"`
	Request json.RawMessage `json:"request,omitempty"`
	// DeferredUntil is until when the caller put it off.
	DeferredUntil *time.Time `json:"deferred_until,omitempty"`
	// Reminded is when people were reminded of it.
	Reminded []time.Time `json:"reminded_at,omitempty"`
	// Judgements are what rules say that have changed since.
	Judgements []Judgement `json:"judgements,omitempty"`
}

// Tool is a tool of the agent.
type Tool struct {
	Name            string          `json:"name"`
	Description     string          `json:"description"`
	InputSchema     json.RawMessage `json:"inputSchema"`
	DestructiveHint bool            `json:"destructiveHint,omitempty"`
	Server          string          `json:"server,omitempty"`
	Approval        *ToolApproval   `json:"approval,omitempty"`
	Rules           *ToolRules      `json:"rules,omitempty"`
}

// ToolRules is what the agent's rules say about the calls of a tool. With Outcome it is the same
// for all calls; else it depends on the call.
type ToolRules struct {
	Outcome string   `json:"outcome,omitempty"`
	Rule    string   `json:"rule,omitempty"`
	Depends []string `json:"depends,omitempty"` // rules that may be about a call
	On      []string `json:"on,omitempty"`      // such as args or caller.groups
}

// ToolApproval says whether a person is asked before each call of a tool, and why.
type ToolApproval struct {
	Asks    bool   `json:"asks"`
	Because string `json:"because"`
}

// Server is the state of a tool server.
type Server struct {
	Name     string `json:"name"`
	Ready    bool   `json:"ready"`
	Error    string `json:"error,omitempty"`
	Tools    int    `json:"tools"`
	Optional bool   `json:"optional,omitempty"`
}

// Model is the model that answers.
type Model struct {
	Name string `json:"name"`
	Note string `json:"note,omitempty"`
}

// Offer is what the agent can do.
type Offer struct {
	Tools   []Tool   `json:"tools"`
	Servers []Server `json:"servers"`
	Model   Model    `json:"model"`
}

// Readiness says whether a conversation could run now.
type Readiness struct {
	Status   string   `json:"status"` // ok or unavailable
	Problems []string `json:"problems"`
	Notes    []string `json:"notes,omitempty"`
	Events   *Feed    `json:"events,omitempty"`
	Servers  []Server `json:"servers"`
	Version  string   `json:"version,omitempty"`
}

// Feed is what carries the pieces of replies.
type Feed struct {
	Deltas  string `json:"deltas"` // memory, redis or none
	Problem string `json:"problem,omitempty"`
}
