package gateway

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/tasks"
	"agent-stop-and-go/gateway/tasks/story"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

const pathA2A = "/a2a"

// viaA2A marks decisions that came with a message of A2A.
const viaA2A = "a2a"

// a2aServer carries out what clients of A2A ask. A task is a conversation: there is no
// other store of tasks. It is a tasks.Handler.
type a2aServer struct{ *Gateway }

// a2a serves a handler of package tasks, which needs to know nothing of Echo.
func (g *Gateway) a2a(handle http.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		handle(c.Response(), c.Request().WithContext(withEcho(c)))
		return nil
	}
}

type keyEcho struct{}

// withEcho lets the handlers of A2A read the request that they serve. Their context
// has no deadline: tasks may take long.
func withEcho(c echo.Context) context.Context {
	return context.WithValue(clientOf(c), keyEcho{}, c)
}

func echoOf(ctx context.Context) echo.Context {
	c, _ := ctx.Value(keyEcho{}).(echo.Context)
	return c
}

// shape is how much of a task the client wants to see.
func (s a2aServer) shape(ctx context.Context, history *int) story.Shape {
	call := tasks.CallOf(ctx)
	o := story.Shape{History: history, Plain: call.Dialect == tasks.Old}
	if slices.Contains(call.Extensions, story.HITL) {
		o.HITL = true
		call.Activate(story.HITL)
	}
	return o
}

// source reads what of a conversation lives in the blob store.
func (s a2aServer) source(ctx context.Context, view contract.ConversationView) (story.Source, error) {
	state, err := record.Load(ctx, s.Blobs, view, nil)
	if err != nil {
		return story.Source{}, err
	}
	return s.sourceOf(ctx, *state), nil
}

func (s a2aServer) sourceOf(ctx context.Context, state record.State) story.Source {
	return story.Of(state, s.Agent, s.publicURL(echoOf(ctx)))
}

// task shows a conversation.
func (s a2aServer) task(ctx context.Context, view contract.ConversationView, o story.Shape) (*a2a.Task, error) {
	src, err := s.source(ctx, view)
	if err != nil {
		return nil, s.failure(ctx, err)
	}
	t := src.Task(o)
	if !view.Task { // made by the old dialect, or by none
		t.Metadata = map[string]any{tasks.MetadataDialect: string(tasks.Old)}
	}
	return t, nil
}

// conversation reads the conversation that is a task, and what it remembers of a
// request.
func (s a2aServer) conversation(ctx context.Context, id a2a.TaskID, requestID string) (contract.ConversationView, error) {
	return s.found(ctx, id, func() (contract.ConversationView, error) {
		return s.Backend.Conversation(ctx, string(id), requestID)
	})
}

// glance is conversation for those who are going to follow it: it is read once for all
// who ask at the same time, of whom there are many when connections broke.
func (s a2aServer) glance(ctx context.Context, id a2a.TaskID) (contract.ConversationView, error) {
	return s.found(ctx, id, func() (contract.ConversationView, error) {
		read := s.glances.DoChan(string(id), func() (view any, err error) {
			ctx, cancel := context.WithTimeout(s.base, loadTimeout)
			defer cancel()
			err = service.Guard(func() error { // or a panic would end the process
				view, err = s.Backend.Conversation(ctx, string(id), "")
				return err
			})
			return view, err
		})
		select {
		case r := <-read:
			view, _ := r.Val.(contract.ConversationView)
			return view, r.Err
		case <-ctx.Done():
			return contract.ConversationView{}, ctx.Err()
		}
	})
}

func (s a2aServer) found(ctx context.Context, id a2a.TaskID, read func() (contract.ConversationView, error)) (contract.ConversationView, error) {
	if !contract.IsUUID(string(id)) {
		return contract.ConversationView{}, noTask(id)
	}
	echoOf(ctx).Set(keyConversation, string(id))
	view, err := read()
	if service.IsKind(err, contract.KindNotFound) {
		return view, noTask(id)
	}
	return view, s.failure(ctx, err)
}

func noTask(id a2a.TaskID) error {
	return a2a.NewError(a2a.ErrTaskNotFound, "Task not found: "+service.Printable(string(id)))
}

// kindsOfA2A is the one table from kind to the protocol's error. What is not in it is a
// fault of ours.
var kindsOfA2A = map[contract.Kind]error{
	contract.KindInvalid:    a2a.ErrInvalidParams,
	contract.KindNotFound:   a2a.ErrTaskNotFound,
	contract.KindWaiting:    a2a.ErrUnsupportedOperation,
	contract.KindCompleted:  a2a.ErrUnsupportedOperation,
	contract.KindDecided:    a2a.ErrUnsupportedOperation,
	contract.KindKeyReused:  a2a.ErrInvalidParams,
	contract.KindTimeout:    a2a.ErrServerError,
	service.KindUnavailable: a2a.ErrServerError,
	contract.KindTooLarge:   a2a.ErrInvalidParams,
	contract.KindBusy:       a2a.ErrServerError,
	service.KindNoSpace:     a2a.ErrServerError,
	service.KindLost:        a2a.ErrInternalError,
}

// told is an error as clients of A2A are told of it.
func told(err error) error {
	var e *service.Error
	err = service.Explain(err)
	if errors.As(err, &e) && kindsOfA2A[e.Kind] != nil {
		return a2a.NewError(kindsOfA2A[e.Kind], e.Text)
	}
	if errors.Is(err, service.ErrClosing) {
		return a2a.NewError(a2a.ErrServerError, "the server is shutting down; the work goes on")
	}
	return err
}

// failure is an error as clients of A2A are told of it, with why Temporal does not answer.
func (s a2aServer) failure(ctx context.Context, err error) error {
	return told(s.withCause(ctx, err))
}

// publicURL is where others reach the gateway.
func (g *Gateway) publicURL(c echo.Context) string {
	if g.PublicURL != "" || c == nil {
		return g.PublicURL
	}
	return c.Scheme() + "://" + c.Request().Host
}
