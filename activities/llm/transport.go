package llm

import (
	"bytes"
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

// readWhole is the SDK middleware that reads answers. The SDK would read without
// bound, and would take a broken connection for broken JSON and the other way
// round; here each becomes an error of its own type.
func readWhole(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	res, err := next(req)
	if err != nil {
		return nil, transportError{err}
	}
	defer res.Body.Close()
	if res.StatusCode < 200 || res.StatusCode > 299 {
		// What was received before the connection broke is still the best
		// description of the failure.
		body, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBody))
		return nil, &statusError{status: res.StatusCode, header: res.Header, body: body}
	}
	body, err := readBounded(res)
	if err != nil {
		return nil, transportError{err}
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res, nil
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
