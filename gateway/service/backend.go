package service

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// ErrAgain is wrapped by what Backend.Await returns when asking again may help.
var ErrAgain = errors.New("ask again")

// ErrOtherStore is wrapped by what Worker.Catalogue fails with when the worker that
// answered has another blob store than the gateway.
var ErrOtherStore = errors.New("the worker has another blob store")

// Backend is what the handlers need of the world. Failures that callers should
// be told about are an *Error; anything else is a fault of ours.
type Backend interface {
	Conversations
	Approvals
	Worker
	Pushes
}

// Conversations starts, addresses and reads conversations.
type Conversations interface {
	// Start starts a conversation, or reports that there is one under its ID.
	Start(ctx context.Context, in StartInput) (Started, error)
	// Signal sends one of the signals of package contract. It fails with
	// KindNotFound or KindCompleted when nobody is there to receive it.
	Signal(ctx context.Context, conversationID, signal string, payload any) error
	// Admit reads a conversation before a signal is sent to it. Request is what it knows
	// of the request, or else what it would refuse it with; nil is for one that it would
	// carry out.
	Admit(ctx context.Context, conversationID string, q contract.ConversationQuery) (contract.ConversationView, error)
	// Await returns when at least one of the requests has settled. It may return
	// none, or fail with ErrAgain; then the caller asks again.
	Await(ctx context.Context, conversationID string, requestIDs []string) (contract.AwaitResult, error)
	// Conversation reads a conversation, and what it remembers of a request when
	// requestID is not empty. One whose workflow has ended is completed.
	Conversation(ctx context.Context, conversationID, requestID string) (contract.ConversationView, error)
	// Trouble is why a conversation does not answer, when its own workflow is to blame,
	// and what the server knows of it. It needs no worker.
	Trouble(ctx context.Context, conversationID string) (item Item, problem string, err error)
	// Tree reads how the conversation's last turn went through the agent's tree. It
	// fails with KindUnavailable while only workers answer that know no trees.
	Tree(ctx context.Context, conversationID string) (contract.TreeView, error)
	List(ctx context.Context, q ListQuery) (Page[Item], error)
	// Tasks lists the conversations that are tasks of A2A: those that run, the newest
	// first, then those that have ended, the latest first.
	Tasks(ctx context.Context, q TaskQuery) (TaskPage, error)
	// RunningIn lists the IDs of the tasks of a context that have not ended, at most so
	// many of the newest. One that has just started may be missing.
	RunningIn(ctx context.Context, contextID string, limit int) ([]string, error)
	Summary(ctx context.Context) (Summary, error)
}

// Approvals reads and decides approvals.
type Approvals interface {
	// Decide sends a decision. It fails with KindDecided when there is one already.
	Decide(ctx context.Context, uuid string, in contract.DecideSignal) error
	// Decision waits for the decision and returns its record.
	Decision(ctx context.Context, uuid string) (contract.ApprovalResult, error)
	Approval(ctx context.Context, uuid string) (contract.ApprovalView, error)
	// Subject is what an approval is about. It needs no worker.
	Subject(ctx context.Context, uuid string) (Subject, error)
	// Waiting lists the approvals that wait for a decision.
	Waiting(ctx context.Context, q ListQuery) (Page[WaitingItem], error)
}

// Subject is what an approval is about.
type Subject struct {
	ConversationID string
	// Question reports whether a tool server wants to know something, and Schema what
	// the answer must be.
	Question bool
	Schema   json.RawMessage
	// CallAs says whether a token that comes with the decision is used; empty for an
	// approval of an older workflow, which does not say.
	CallAs contract.CallAs
}

// Worker asks about what runs behind Temporal.
type Worker interface {
	Catalogue(ctx context.Context) (contract.Catalogue, error)
	// Resources and Prompts are those of all tool servers. They fail with
	// KindUnavailable while only workers answer that cannot list them.
	Resources(ctx context.Context) (contract.ResourceCatalogue, error)
	Prompts(ctx context.Context) (contract.PromptCatalogue, error)
	// Attended reports whether a worker may be there. One that has died a moment ago may
	// still count.
	Attended(ctx context.Context) (bool, error)
	// Ping fails when Temporal does not answer.
	Ping(ctx context.Context) error
}

// StartInput starts a conversation.
type StartInput struct {
	Conversation contract.ConversationInput
	// Fingerprint is kept with the conversation, for requests under the same key.
	Fingerprint string
	CreatedAt   time.Time
	// Push is told how the conversation fares, from its start.
	Push *PushConfig
	// Keep stores what the first message refers to by address; nil when that is nothing.
	// It is called before the conversation starts, and not for one that is there.
	Keep func(context.Context) error
}

// Started reports whether the conversation was there before.
type Started struct {
	Existed bool
	// CreatedAt and Fingerprint are those of the request which started the existing one.
	CreatedAt   time.Time
	Fingerprint string
}

// ListQuery asks for a page.
type ListQuery struct {
	Limit  int
	Token  []byte
	Status contract.Status // empty for all
}

// TaskQuery asks for a page of tasks. What is zero does not matter.
type TaskQuery struct {
	Limit     int
	Token     []byte
	ContextID string
	State     contract.TaskState
	// After leaves out what had ended before.
	After *time.Time
}

// TaskPage is a part of the tasks' IDs.
type TaskPage struct {
	IDs   []string
	Next  []byte
	Total int64
}

// Page is a part of a list. Next is empty on the last one.
type Page[T any] struct {
	Items []T
	Next  []byte
}

// Item is a conversation in a list.
type Item struct {
	ID        string `json:"id"`
	SessionID string `json:"session_id,omitempty"`
	AgentName string `json:"agent_name,omitempty"`
	// Title is empty for a conversation without a message.
	Title     string          `json:"title,omitempty"`
	Status    contract.Status `json:"status"`
	CreatedAt time.Time       `json:"created_at"`
	// UpdatedAt is when the conversation last changed, up to a minute early.
	UpdatedAt time.Time `json:"updated_at"`
}

// WaitingItem is a pending approval in a list.
type WaitingItem struct {
	UUID           string    `json:"uuid"`
	ConversationID string    `json:"conversation_id"`
	SessionID      string    `json:"session_id,omitempty"`
	AgentName      string    `json:"agent_name,omitempty"`
	ToolName       string    `json:"tool_name"`
	CreatedAt      time.Time `json:"created_at"`
	// Card is empty for an approval that was opened by a worker which wrote none.
	contract.Card
	// URL is where the whole approval can be read and decided.
	URL string `json:"url"`
}

// Summary counts conversations by status.
type Summary struct {
	Total           int64 `json:"total"`
	Active          int64 `json:"active"`
	WaitingApproval int64 `json:"waiting_approval"`
	Completed       int64 `json:"completed"`
}
