package toolbox

import (
	"context"
	"net/http"
	"time"
)

// WithLimit is a limit of time that can be paused.
var WithLimit = withLimit

// Patient is a context without its deadline.
var Patient = withoutAnswerDeadline

// MaxAnswers is how many requests of a server are answered at a time, MaxAsked how
// many questions and samples.
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
	return sseTransport{&sseWire{secure: true, trip: newWatchedTransport(nil, time.Second)}}.RoundTrip(req)
}

// Retired is the reason that others read of a connection that was lost because of err.
func Retired(s Server, err error) error {
	c := &conn{server: s, done: make(chan struct{}), users: 1}
	c.retire(err)
	return c.reason()
}

// What works around mcp-go.
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

// Marked is what is encoded when a request is written; sent reports whether it was.
func Marked(value any) (encodes any, sent func() bool) {
	x := &trace{}
	return writeMarker{value: value, x: x}, x.sent.Load
}
