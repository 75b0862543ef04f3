package toolbox

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// WithLimit returns a context with a time limit that can be paused.
var WithLimit = withLimit

// Patient returns a context without its deadline.
var Patient = withoutAnswerDeadline

// MaxAnswers bounds the requests of a server that are answered concurrently, MaxAsked the open
// questions and samples.
const (
	MaxAnswers = maxAnswers
	MaxAsked   = maxAsked
)

// Pause stops the time of the limit in a context.
func Pause(ctx context.Context) (asking context.Context, resume func()) {
	return limitOf(ctx).pause(ctx)
}

// TripOfSecureSSE sends a request as the transport of a server with an https URL.
func TripOfSecureSSE(req *http.Request) (*http.Response, error) {
	return sseTransport{&sseWire{secure: true, trip: newWatchedTransport(Server{}, time.Second)}}.RoundTrip(req)
}

// Retired returns the reason that other callers read for a connection that was lost because of
// err.
func Retired(s Server, err error) error {
	c := &conn{server: s, done: make(chan struct{}), users: 1}
	c.retire(err)
	return c.reason()
}

// Workarounds for mcp-go.
var (
	Undecoded       = withoutResult
	EndOfPages      = endOfPages
	SignDelete      = signDelete
	WithoutDeadline = withoutDeadline
	OfCall          = ofCall
	RequestIn       = requestIn
	NamelessError   = namelessError
	Cancellation    = cancellation
	WorthListing    = worthListing
	Unlogged        = discardLogger
	WhyLost         = streamEndReason
	WithoutLayers   = withoutLayers
)

// Marked returns a value that is encoded when a request is written; sent reports whether it
// was.
func Marked(value any) (encodes any, sent func() bool) {
	x := &trace{}
	return writeMarker{value: value, x: x}, x.sent.Load
}

// Settle ends two attempts to connect to a server at the same time.
func (t *Toolbox) Settle(s Server, err error) {
	l := newLink(t, s)
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() { l.settle(&attempt{done: make(chan struct{})}, nil, listing{}, err) })
	}
	both.Wait()
}
