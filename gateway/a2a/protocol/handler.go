package protocol

import (
	"context"
	"iter"
	"net/http"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// Handler carries out the requests of clients. Its errors are *a2a.Error or wrap the sentinels
// of package a2a, and their texts are shown to the client. Any other error is internal: the
// client gets a fixed text, and Options.Logger gets the error.
//
// The form of a request has been checked: required members are present, and all have the right
// type. The Handler checks values, such as page tokens, media types and URLs. Its results are
// not modified.
//
// A Handler may skip events of a stream but must end it: after a status in which nothing more
// happens, and when ctx is done.
type Handler interface {
	Send(ctx context.Context, req *a2a.SendMessageRequest) (*a2a.Task, error)
	SendStream(ctx context.Context, req *a2a.SendMessageRequest) iter.Seq2[Event, error]
	Get(ctx context.Context, req *a2a.GetTaskRequest) (*a2a.Task, error)
	List(ctx context.Context, req *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error)
	Cancel(ctx context.Context, req *a2a.CancelTaskRequest) (*a2a.Task, error)
	// Subscribe starts with the task or, if after is not empty, after the event with that ID.
	Subscribe(ctx context.Context, req *a2a.SubscribeToTaskRequest, after string) iter.Seq2[Event, error]

	SetPush(ctx context.Context, config *a2a.PushConfig) (*a2a.PushConfig, error)
	// GetPush returns the task's default if the ID is empty, which 0.3 allows.
	GetPush(ctx context.Context, req *a2a.GetTaskPushConfigRequest) (*a2a.PushConfig, error)
	ListPush(ctx context.Context, req *a2a.ListTaskPushConfigRequest) (*a2a.ListTaskPushConfigResponse, error)
	DeletePush(ctx context.Context, req *a2a.DeleteTaskPushConfigRequest) error

	// Card returns the public card, made with the function Card.
	Card(ctx context.Context) (*a2a.AgentCard, error)
	// ExtendedCard fails with a2a.ErrExtendedCardNotConfigured if there is none.
	ExtendedCard(ctx context.Context) (*a2a.AgentCard, error)
}

// Event is an event of a stream. One without an a2a.Event is a keep-alive, which clients
// ignore.
type Event struct {
	// ID lets a client resume after this event. It may be empty.
	ID    string
	Event a2a.Event
}

// Dialect is the form of a request and of its reply.
type Dialect string

const (
	V10 Dialect = "1.0"
	V03 Dialect = "0.3"
	Old Dialect = "old" // the dialect of this project's predecessor
)

// MetadataDialect is a key in the metadata of tasks. A Handler sets it to string(Old) on
// tasks that were created in the old dialect, because requests that read such a task look
// like 0.3. It is never sent to clients.
const MetadataDialect = "agent-stop-and-go/dialect"

// Call is what a Handler may read of the request.
type Call struct {
	Dialect Dialect
	// Extensions are the URIs of the extensions that the client asks for, without duplicates.
	Extensions []string
	// Activate names an extension in a response header. It has no effect after the Handler
	// has returned or sent its first event, and must not be called from another goroutine.
	Activate func(uri string)
	// Request is nil if the Handler is called without HTTP, as in tests.
	Request *http.Request
}

type callKey struct{}

// CallOf returns the Call in ctx.
func CallOf(ctx context.Context) Call {
	if call, ok := ctx.Value(callKey{}).(Call); ok {
		return call
	}
	return Call{Activate: func(string) {}}
}

// WithCall returns a context with a Call, for use without a Server.
func WithCall(ctx context.Context, call Call) context.Context {
	if call.Activate == nil {
		call.Activate = func(string) {}
	}
	return context.WithValue(ctx, callKey{}, call)
}
