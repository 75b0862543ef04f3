package protocol

import (
	"context"
	"iter"
	"net/http"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// Handler carries out what clients ask for. Its errors are *a2a.Error or wrap
// the sentinels of package a2a, and what they say is shown to the client.
// Anything else is a fault of ours: the client reads a fixed text, and
// Options.Logger gets the error.
//
// What a Handler gets has been checked for its form: what the protocol requires
// is there and of the right type. Whether a page token is good, a media type
// welcome or a URL harmless is the Handler's to judge. What it returns is read
// and never changed.
//
// A Handler may leave events out of a stream but must end it: behind a status
// in which nothing more happens, and when ctx is done.
type Handler interface {
	Send(ctx context.Context, req *a2a.SendMessageRequest) (*a2a.Task, error)
	SendStream(ctx context.Context, req *a2a.SendMessageRequest) iter.Seq2[Event, error]
	Get(ctx context.Context, req *a2a.GetTaskRequest) (*a2a.Task, error)
	List(ctx context.Context, req *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error)
	Cancel(ctx context.Context, req *a2a.CancelTaskRequest) (*a2a.Task, error)
	// Subscribe begins with the task, or behind the event with the ID after
	// when that is not empty.
	Subscribe(ctx context.Context, req *a2a.SubscribeToTaskRequest, after string) iter.Seq2[Event, error]

	SetPush(ctx context.Context, config *a2a.PushConfig) (*a2a.PushConfig, error)
	// GetPush is asked for the task's default when the ID is empty, which 0.3
	// allows.
	GetPush(ctx context.Context, req *a2a.GetTaskPushConfigRequest) (*a2a.PushConfig, error)
	ListPush(ctx context.Context, req *a2a.ListTaskPushConfigRequest) (*a2a.ListTaskPushConfigResponse, error)
	DeletePush(ctx context.Context, req *a2a.DeleteTaskPushConfigRequest) error

	// Card is the public card: see the function Card.
	Card(ctx context.Context) (*a2a.AgentCard, error)
	// ExtendedCard fails with a2a.ErrExtendedCardNotConfigured where there is none.
	ExtendedCard(ctx context.Context) (*a2a.AgentCard, error)
}

// Event is an event of a stream. Without an a2a.Event it is a sign of life,
// which clients do not see.
type Event struct {
	// ID lets a client that was cut off go on behind this event. "" gives none.
	ID    string
	Event a2a.Event
}

// Dialect is the way a request is written and wants to be answered.
type Dialect string

const (
	V10 Dialect = "1.0"
	V03 Dialect = "0.3"
	Old Dialect = "old" // the shape this project's predecessor spoke
)

// MetadataDialect is a key in the metadata of tasks, for a Handler to set to
// string(Old) on tasks that were made in the old dialect: reading such a task
// looks like 0.3, and only this tells how to answer. It is never written.
const MetadataDialect = "agent-stop-and-go/dialect"

// Call is what a Handler may know of the request that it answers.
type Call struct {
	Dialect Dialect
	// Extensions are the URIs that the client asks for, each once.
	Extensions []string
	// Activate tells the client, in a header, that an extension is in use. It
	// counts until the Handler returns or sends its first event, and must not
	// be called from another goroutine.
	Activate func(uri string)
	// Request is nil where there is none, as in tests.
	Request *http.Request
}

type callKey struct{}

// CallOf returns the call that ctx belongs to.
func CallOf(ctx context.Context) Call {
	if call, ok := ctx.Value(callKey{}).(Call); ok {
		return call
	}
	return Call{Activate: func(string) {}}
}

// WithCall returns a context for a Handler that is called without a Server.
func WithCall(ctx context.Context, call Call) context.Context {
	if call.Activate == nil {
		call.Activate = func(string) {}
	}
	return context.WithValue(ctx, callKey{}, call)
}
