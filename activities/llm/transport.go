package llm

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

// maxBody bounds what is read of an answer, maxErrorBody what is read of an
// answer that is an error.
const (
	maxBody      = 16 << 20
	maxErrorBody = 64 << 10
)

var errTooLarge = errors.New("the answer is larger than 16 MiB")

func newHTTPClient(connect time.Duration) *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: connect, KeepAlive: 30 * time.Second}).DialContext
	t.TLSHandshakeTimeout = connect
	t.MaxIdleConns = 0 // no limit: worker threads share few hosts
	t.MaxIdleConnsPerHost = 256
	return &http.Client{Transport: t}
}

// transportError is a call that got no whole answer.
type transportError struct{ error }

func (e transportError) Unwrap() error { return e.error }

// statusError is an answer that says the call failed.
type statusError struct {
	status int
	header http.Header
	body   []byte
}

func (e *statusError) Error() string { return http.StatusText(e.status) }

// guard is a transport that reads answers. SDKs would read without bound, and
// would take a broken connection for broken JSON and the other way round; here
// each becomes an error of its own type.
type guard struct {
	next http.RoundTripper
	// stream: answers are passed on as they come, without bound. What is kept of
	// them is bounded by draft.
	stream bool
}

// guarded is the client of an endpoint for one kind of answer.
func (e endpoint) guarded(stream bool) *http.Client {
	c := *e.client
	c.Transport = guard{next: cmp.Or[http.RoundTripper](c.Transport, http.DefaultTransport), stream: stream}
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
		// What was received before the connection broke is still the best
		// description of the failure.
		body, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBody))
		return nil, &statusError{status: res.StatusCode, header: res.Header, body: body}
	}
	if g.stream {
		res.Body = streamBody{res.Body}
		return res, nil
	}
	defer res.Body.Close()
	body, err := readBounded(res)
	if err != nil {
		return nil, transportError{err}
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res, nil
}

// streamBody is a body whose reading fails with a transportError.
type streamBody struct{ io.ReadCloser }

func (b streamBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = transportError{err}
	}
	return n, err
}

func readBounded(res *http.Response) ([]byte, error) {
	if res.ContentLength > maxBody {
		return nil, errTooLarge
	}
	var buf bytes.Buffer
	if res.ContentLength > 0 {
		buf.Grow(int(res.ContentLength) + bytes.MinRead)
	}
	n, err := buf.ReadFrom(io.LimitReader(res.Body, maxBody+1))
	if err == nil && n > maxBody {
		err = errTooLarge
	}
	return buf.Bytes(), err
}
