package service

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
	"agent-stop-and-go/workflows/contract/judgement"
	"agent-stop-and-go/workflows/contract/later"
)

// ErrAgain is wrapped by errors of Backend.Await after which the caller should ask again.
var ErrAgain = errors.New("ask again")

// ErrOtherStore is wrapped by the error of Worker.Catalogue if the worker that answered has
// another blob store than the gateway.
var ErrOtherStore = errors.New("the worker has another blob store")

// Backend is the durable side of the service. Errors for callers are an *Error; any other
// error is internal.
type Backend interface {
	Conversations
	Approvals
	Worker
	Pushes
	Control
	Deputation
}

// Conversations starts, signals and reads conversations.
type Conversations interface {
	// Start starts a conversation, or reports that one with its ID exists.
	Start(ctx context.Context, in StartInput) (StartResult, error)
	// StartAndAwait starts a conversation with a first message, and returns like Await when that
	// has settled. If it fails, the conversation may have started: the caller then uses Start and
	// Await.
	StartAndAwait(ctx context.Context, in StartInput) (contract.AwaitResult, error)
	// Signal sends one of the signals of package contract. It fails with KindNotFound or
	// KindCompleted if no workflow can receive it.
	Signal(ctx context.Context, conversationID, signal string, payload any) error
	// Admit reads a conversation before a signal is sent to it. In the result, Request is the
	// request if it is known, or the refusal it would get; nil means that it would be carried
	// out.
	Admit(ctx context.Context, conversationID string, q contract.ConversationQuery) (contract.ConversationView, error)
	// Await returns when at least one of the requests has settled. It may also return without
	// one, or fail with ErrAgain; then the caller asks again.
	Await(ctx context.Context, conversationID string, requestIDs []string) (contract.AwaitResult, error)
	// Conversation reads a conversation and, if requestID is not empty, the state of that
	// request. A conversation whose workflow has ended is completed.
	Conversation(ctx context.Context, conversationID, requestID string) (contract.ConversationView, error)
	// Owner returns whom a conversation belongs to; the zero Owner is nobody. It needs no worker.
	Owner(ctx context.Context, conversationID string) (Owner, error)
	// Trouble returns what the server knows of a conversation, and the problem that keeps its
	// own workflow from answering, if there is one. It needs no worker.
	Trouble(ctx context.Context, conversationID string) (item Item, problem string, err error)
	// Tree reads how the conversation's last turn went through the agent's tree. It fails
	// with KindUnavailable if only workers answer that do not know trees.
	Tree(ctx context.Context, conversationID string) (contract.TreeView, error)
	List(ctx context.Context, q ListQuery) (Page[Item], error)
	// Tasks lists the conversations that are A2A tasks: running ones, newest first, then
	// ended ones, latest first.
	Tasks(ctx context.Context, q TaskQuery) (TaskPage, error)
	// RunningIn lists the IDs of the newest running tasks of a context, at most limit. A task
	// that has just started may be missing.
	RunningIn(ctx context.Context, contextID string, whose Whose, limit int) ([]string, error)
	Summary(ctx context.Context, whose Whose) (Summary, error)
	// Delete removes a conversation and waits for that. It goes on if ctx ends. A refusal is in
	// the result.
	Delete(ctx context.Context, in deletion.Input) (deletion.Result, error)
}

type Approvals interface {
	// Decide sends a decision and returns its record, or nil if the record is not known yet. It
	// fails with KindDecided if the approval was decided before, and with KindInvalid if the
	// approval does not take the answer.
	Decide(ctx context.Context, uuid string, in contract.DecideSignal) (*contract.ApprovalResult, error)
	// Decision waits for the decision and returns its record.
	Decision(ctx context.Context, uuid string) (contract.ApprovalResult, error)
	Approval(ctx context.Context, uuid string) (contract.ApprovalView, error)
	// Typist returns what the client of Temporal that typed a decision calls itself. Nothing
	// proves it. It is "" if several sent one at the same moment, or nobody typed one.
	Typist(ctx context.Context, uuid string) (string, error)
	// Subject returns what an approval is about. It needs no worker.
	Subject(ctx context.Context, uuid string) (Subject, error)
	// Later puts an approval off for somebody. It decides nothing. It fails with KindDecided if
	// the approval was decided before.
	Later(ctx context.Context, uuid string, d later.Deferral) error
	// Waiting lists the approvals that wait for a decision.
	Waiting(ctx context.Context, q ListQuery) (Page[WaitingItem], error)
}

// Subject is what an approval is about.
type Subject struct {
	ConversationID string
	// Owner is that of the conversation. Approvers are the rules of who may decide; see package
	// approvers.
	Owner     Owner
	Approvers []string
	// Elsewhere reports whether the approval is of another agent in the namespace.
	Elsewhere bool
	// Question reports whether a tool server asks a question, and Schema is the schema of the
	// answer.
	Question bool
	Schema   json.RawMessage
	// CallAs says whether a token that comes with the decision is used. It is empty for
	// approvals of older workflows.
	CallAs contract.CallAs
}

// Worker answers questions about the workers.
type Worker interface {
	Catalogue(ctx context.Context) (contract.Catalogue, error)
	// Resources and Prompts list those of all tool servers. They fail with KindUnavailable if
	// only workers answer that cannot list them.
	Resources(ctx context.Context) (contract.ResourceCatalogue, error)
	Prompts(ctx context.Context) (contract.PromptCatalogue, error)
	// Attended reports whether a worker may be running. A worker that ended a moment ago may
	// still count.
	Attended(ctx context.Context) (bool, error)
	// Ping fails if Temporal does not answer.
	Ping(ctx context.Context) error
}

// Graves has the tombstones of deleted conversations.
type Graves interface {
	// Tombstone returns the tombstone of a conversation, or nil if it was not deleted.
	Tombstone(ctx context.Context, conversationID string) (*deletion.Tombstone, error)
}

// StartInput is the input of Conversations.Start.
type StartInput struct {
	Conversation contract.ConversationInput
	// Fingerprint is stored with the conversation, to compare with later requests of the same
	// key.
	Fingerprint string
	CreatedAt   time.Time
	// Title is the title in lists; "" is that of the first message.
	Title string
	// Push is a webhook that is notified about the conversation from its start.
	Push *PushConfig
	// Keep stores the values that the first message refers to, or is nil if there are none.
	// It is called before the conversation starts, and not if the conversation exists.
	Keep func(context.Context) error
}

// StartResult says whether the conversation existed before.
type StartResult struct {
	Existed bool
	// CreatedAt and Fingerprint belong to the request that started the existing conversation.
	CreatedAt   time.Time
	Fingerprint string
}

// Whose limits a list to what belongs to one identity or to one of its groups, by their keys. The
// zero value does not.
type Whose struct {
	Owner  string
	Groups []string
}

type ListQuery struct {
	Limit  int
	Token  []byte
	Status contract.Status // empty for all
	// Prefix is how the IDs of conversations begin; empty for all.
	Prefix string
	Whose  Whose
}

// TaskQuery asks for a page of tasks. Zero fields select everything.
type TaskQuery struct {
	Limit     int
	Token     []byte
	ContextID string
	State     contract.TaskState
	// After leaves out tasks that ended before it.
	After *time.Time
	Whose Whose
}

// TaskPage is a page of task IDs.
type TaskPage struct {
	IDs   []string
	Next  []byte
	Total int64
}

// Page is a page of a list. Next is empty on the last one.
type Page[T any] struct {
	Items []T
	Next  []byte
}

type Item struct {
	ID string `json:"id"`
	// ShortID is set by package shortid.
	ShortID string `json:"short_id,omitempty"`
	// Excerpt is set by package search: the place in the text where it has found a word.
	Excerpt   string `json:"excerpt,omitempty"`
	SessionID string `json:"session_id,omitempty"`
	AgentName string `json:"agent_name,omitempty"`
	// Title is empty for a conversation without a message.
	Title     string          `json:"title,omitempty"`
	Status    contract.Status `json:"status"`
	CreatedAt time.Time       `json:"created_at"`
	// UpdatedAt is the time of the last change. It may be up to a minute too early.
	UpdatedAt time.Time `json:"updated_at"`
}

// WaitingItem is a waiting approval in a list.
type WaitingItem struct {
	UUID           string    `json:"uuid"`
	ConversationID string    `json:"conversation_id"`
	SessionID      string    `json:"session_id,omitempty"`
	AgentName      string    `json:"agent_name,omitempty"`
	ToolName       string    `json:"tool_name"`
	CreatedAt      time.Time `json:"created_at"`
	// Card is empty if an older worker opened the approval.
	contract.Card
	// URL is the address at which the approval can be read and decided.
	URL string `json:"url"`
	// Owner and Approvers are as in Subject.
	Owner     Owner    `json:"-"`
	Approvers []string `json:"approvers,omitempty"`
	// Deferrals say who has put it off. DeferredUntil is the caller's own, nil if there is none.
	Deferrals     later.List `json:"-"`
	DeferredUntil *time.Time `json:"deferred_until,omitempty"`
	// Reminded is when people were reminded of it.
	Reminded []time.Time `json:"reminded_at,omitempty"`
	// Judgements are what the rules say that have changed since.
	Judgements judgement.List `json:"judgements,omitempty"`
}

// Summary counts conversations by status.
type Summary struct {
	Total           int64 `json:"total"`
	Active          int64 `json:"active"`
	WaitingApproval int64 `json:"waiting_approval"`
	Completed       int64 `json:"completed"`
}
