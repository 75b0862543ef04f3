package handler

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"agent-stop-and-go/gateway/a2a/protocol"
	"agent-stop-and-go/gateway/a2a/task"
	"agent-stop-and-go/gateway/identity"
	"agent-stop-and-go/gateway/live"
	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
	"agent-stop-and-go/workflows/contract/modality"
	"agent-stop-and-go/workflows/record"
)

// Handler implements protocol.Handler.
type Handler struct {
	service   *service.Service
	followers *live.Followers
	agent     contract.Agent
	version   string
	provider  *a2a.AgentProvider
	proven    bool
	schemes   []identity.Scheme
	logger    *slog.Logger
	now       func() time.Time
	recent    *recentTasks
}

// Options are the dependencies of a Handler.
type Options struct {
	Service   *service.Service
	Followers *live.Followers
	Agent     contract.Agent
	Version   string
	// Provider is the organization named in the agent's card; it may be nil.
	Provider *a2a.AgentProvider
	// Proven means that callers prove who they are. Schemes are ways in which they do, for cards.
	Proven  bool
	Schemes []identity.Scheme
	Logger  *slog.Logger
	Now     func() time.Time
}

func New(o Options) *Handler {
	return &Handler{
		service: o.Service, followers: o.Followers, agent: o.Agent, version: o.Version, provider: o.Provider, proven: o.Proven, schemes: o.Schemes,
		logger: o.Logger, now: o.Now, recent: &recentTasks{now: o.Now},
	}
}

func callerOf(ctx context.Context) service.Caller { return request.From(ctx).Caller }

// shape returns the form of the task that the client asks for.
func shape(ctx context.Context, history *int) task.Shape {
	call := protocol.CallOf(ctx)
	o := task.Shape{History: history, Plain: call.Dialect == protocol.Old}
	if slices.Contains(call.Extensions, task.HITL) {
		o.HITL = true
		call.Activate(task.HITL)
	}
	return o
}

// source loads the record of a conversation, including what is in the blob store.
func (h *Handler) source(ctx context.Context, view contract.ConversationView) (task.Source, error) {
	state, err := h.service.Record(ctx, view)
	if err != nil {
		return task.Source{}, err
	}
	return h.sourceOf(ctx, *state), nil
}

func (h *Handler) sourceOf(ctx context.Context, state record.State) task.Source {
	return task.NewSource(state, h.agent, callerOf(ctx).BaseURL)
}

// task returns a conversation as a task.
func (h *Handler) task(ctx context.Context, view contract.ConversationView, o task.Shape) (*a2a.Task, error) {
	src, err := h.source(ctx, view)
	if err != nil {
		return nil, h.failure(ctx, err)
	}
	t := src.Task(o)
	if !view.Task { // created in the old dialect, or not over A2A
		t.Metadata = map[string]any{protocol.MetadataDialect: string(protocol.Old)}
	}
	return t, nil
}

// conversation reads the conversation of a task, with the outcome of a request.
func (h *Handler) conversation(ctx context.Context, id a2a.TaskID, requestID string) (contract.ConversationView, error) {
	return h.readTask(ctx, id, func() (contract.ConversationView, error) {
		return h.service.Conversation(ctx, string(id), requestID)
	})
}

// sharedConversation is conversation for callers that follow the task afterwards.
func (h *Handler) sharedConversation(ctx context.Context, id a2a.TaskID) (contract.ConversationView, error) {
	return h.readTask(ctx, id, func() (contract.ConversationView, error) {
		return h.service.SharedConversation(ctx, string(id))
	})
}

func (h *Handler) readTask(ctx context.Context, id a2a.TaskID, read func() (contract.ConversationView, error)) (contract.ConversationView, error) {
	if !contract.IsUUID(string(id)) {
		return contract.ConversationView{}, noTask(id)
	}
	request.From(ctx).ConversationID = string(id)
	view, err := read()
	if service.IsKind(err, contract.KindNotFound) {
		return view, noTask(id)
	}
	return view, h.failure(ctx, err)
}

func noTask(id a2a.TaskID) error {
	return a2a.NewError(a2a.ErrTaskNotFound, "Task not found: "+service.Printable(string(id)))
}

// temporary are the kinds of errors after which the same request may succeed.
var temporary = []contract.Kind{contract.KindTimeout, contract.KindBusy, service.KindUnavailable}

// kinds is the table from other error kinds to A2A errors. Kinds that are not in it are internal
// errors.
var kinds = map[contract.Kind]error{
	contract.KindInvalid:     a2a.ErrInvalidParams,
	contract.KindNotFound:    a2a.ErrTaskNotFound,
	deletion.KindDeleted:     a2a.ErrTaskNotFound,
	contract.KindForbidden:   a2a.ErrUnauthorized,
	contract.KindWaiting:     a2a.ErrUnsupportedOperation,
	contract.KindCompleted:   a2a.ErrUnsupportedOperation,
	contract.KindDecided:     a2a.ErrUnsupportedOperation,
	contract.KindKeyReused:   a2a.ErrInvalidParams,
	contract.KindTooLarge:    a2a.ErrInvalidParams,
	modality.KindUnsupported: a2a.ErrUnsupportedContentType,
	service.KindNoSpace:      a2a.ErrServerError,
	service.KindLost:         a2a.ErrInternalError,
}

// toA2AError converts an error to an A2A error.
func toA2AError(err error) error {
	var e *service.Error
	err = service.Explain(err)
	if errors.As(err, &e) && e.RetryAfter > 0 {
		return protocol.TooMany(e.Text, e.RetryAfter)
	}
	if errors.As(err, &e) && slices.Contains(temporary, e.Kind) {
		return protocol.Unavailable(e.Text)
	}
	if errors.As(err, &e) && kinds[e.Kind] != nil {
		return a2a.NewError(kinds[e.Kind], e.Text)
	}
	if errors.Is(err, service.ErrClosing) {
		return protocol.Unavailable("the server is shutting down; the work goes on")
	}
	return err
}

// failure is toA2AError, with the reason if Temporal does not answer.
func (h *Handler) failure(ctx context.Context, err error) error {
	return toA2AError(h.service.WithCause(ctx, err))
}
