package llm

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"net/http"
	"time"

	"agent-stop-and-go/activities/outbound"
)

// MaxBody bounds the bytes read of an answer, maxErrorBody those of an error.
const (
	MaxBody      = 16 << 20
	maxErrorBody = 64 << 10
)

// ErrTooLarge is the error of an answer larger than MaxBody.
var ErrTooLarge = errors.New("the answer is larger than 16 MiB")

// transportError is the error of a call whose answer did not arrive completely.
type transportError struct{ error }

func (e transportError) Unwrap() error { return e.error }

// StatusError is the error of an answer with a failure status.
type StatusError struct {
	Status int
	Header http.Header
	Body   []byte
}

// Error implements error.
func (e *StatusError) Error() string { return http.StatusText(e.Status) }

// guard is a transport that bounds the reading of answers and gives every failure an error of
// its own type. SDKs read without bound, and confuse a broken connection with invalid JSON.
//
// Answers are passed on while they arrive. Draft bounds the bytes that are kept.
type guard struct{ next http.RoundTripper }

// Client is the HTTP client for requests to the model.
func (e Endpoint) Client() *http.Client {
	c := *e.HTTP
	c.Transport = guard{cmp.Or[http.RoundTripper](c.Transport, http.DefaultTransport)}
	return &c
}

// RoundTrip implements http.RoundTripper.
func (g guard) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := g.next.RoundTrip(req)
	if err != nil {
		return nil, transportError{err}
	}
	if res.StatusCode < 200 || res.StatusCode > 299 {
		defer res.Body.Close()
		// The part that was received before the connection broke still describes the
		// failure best.
		body, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBody))
		return nil, &StatusError{Status: res.StatusCode, Header: res.Header, Body: body}
	}
	res.Body = &streamBody{ReadCloser: res.Body, limit: outbound.EventLimit{Max: MaxBody}}
	return res, nil
}

// truncatedError is the error of a connection that broke after the answer had begun.
type truncatedError struct{ error }

func (e truncatedError) Unwrap() error { return e.error }

// idleLimit is how long Close waits for the end of the connection after a stream's last event;
// only then can the connection be reused.
const idleLimit = 50 * time.Millisecond

// streamBody is the body of a streamed answer. Reading fails with a transportError, and with
// ErrTooLarge if one event is too large, which the decoders of SDKs would keep in memory.
type streamBody struct {
	io.ReadCloser
	limit outbound.EventLimit
}

func (b *streamBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.limit.Exceeded(p[:n]) {
		return 0, transportError{ErrTooLarge}
	}
	if err != nil && err != io.EOF {
		err = transportError{truncatedError{err}}
	}
	return n, err
}

// Close reads the rest, so that the connection can be reused.
func (b *streamBody) Close() error {
	enough := time.AfterFunc(idleLimit, func() { _ = b.ReadCloser.Close() })
	defer enough.Stop()
	_, _ = io.CopyN(io.Discard, b.ReadCloser, maxErrorBody)
	return b.ReadCloser.Close()
}

// ReadBounded reads an answer that is not a stream.
func ReadBounded(res *http.Response) ([]byte, error) {
	if res.ContentLength > MaxBody {
		return nil, ErrTooLarge
	}
	var buf bytes.Buffer
	if res.ContentLength > 0 {
		buf.Grow(int(res.ContentLength) + bytes.MinRead)
	}
	n, err := buf.ReadFrom(io.LimitReader(res.Body, MaxBody+1))
	if err == nil && n > MaxBody {
		err = ErrTooLarge
	}
	return buf.Bytes(), err
}
