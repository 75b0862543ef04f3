package toolbox

import (
	"context"
	"net/http"
	"time"
)

// WithLimit is a limit of time that can be paused.
var WithLimit = withLimit

// Patient is a context without its deadline.
var Patient = patient

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
