package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Options are the settings of a Client besides the address.
type Options struct {
	// Key is sent as a bearer token, unless it is empty.
	Key string
	// HTTP is http.DefaultTransport by default.
	HTTP http.RoundTripper
	// Pause returns how long to wait before the next attempt, of which n have failed. The
	// default grows from 100 ms to 5 s.
	Pause func(n int) time.Duration
}

// Client talks to one agent. It may be used concurrently.
type Client struct {
	base  *url.URL
	key   string
	http  *http.Client
	pause func(n int) time.Duration
}

// New returns a client of the agent at a URL, such as http://127.0.0.1:8080.
func New(address string, o Options) (*Client, error) {
	base, err := url.Parse(strings.TrimRight(address, "/"))
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("%q is not the URL of an agent, such as http://127.0.0.1:8080", address)
	}
	if o.Pause == nil {
		o.Pause = func(n int) time.Duration { return min(100*time.Millisecond<<min(n, 6), 5*time.Second) }
	}
	return &Client{base: base, key: o.Key, http: &http.Client{Transport: o.HTTP, CheckRedirect: stay}, pause: o.Pause}, nil
}

// stay refuses redirects, which would send the key to another place.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// HasKey reports whether requests have a key.
func (c *Client) HasKey() bool { return c.key != "" }

// URL returns the address of the agent.
func (c *Client) URL() string { return c.base.String() }

// Error is a reply that is an error.
type Error struct {
	Status int
	// Text is what the agent says.
	Text string
	// Decision is the one that counts, if an approval was decided before.
	Decision *Decision
	// Result has the approval that waits, if that is the reason.
	Result *Result
	// Body is the whole reply.
	Body json.RawMessage
	// Agent is whom the request was sent to.
	Agent *Client
}

func (e *Error) Error() string { return e.Text }

// StatusOf returns the status of an error reply, or 0 for another error.
func StatusOf(err error) int {
	var e *Error
	if errors.As(err, &e) {
		return e.Status
	}
	return 0
}

// Unreachable is the error of a request that got no reply.
type Unreachable struct {
	URL   string
	Cause error
}

func (e *Unreachable) Error() string {
	return fmt.Sprintf("no agent answers at %s: %v", e.URL, e.Cause)
}

func (e *Unreachable) Unwrap() error { return e.Cause }

// request describes a request.
type request struct {
	method, path string
	body         any
	// header has names and values alternately.
	header []string
}

// do sends a request and returns its response, whose body the caller closes. A response that is
// no success is returned as an *Error.
func (c *Client) do(ctx context.Context, r request) (*http.Response, error) {
	var body io.Reader
	if r.body != nil {
		data, err := json.Marshal(r.body)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, c.base.String()+r.path, body)
	if err != nil {
		return nil, err
	}
	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	for i := 0; i+1 < len(r.header); i += 2 {
		req.Header.Set(r.header[i], r.header[i+1])
	}
	res, err := c.http.Do(req)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, &Unreachable{c.URL(), cause(err)}
	case res.StatusCode >= 300:
		defer res.Body.Close()
		return nil, c.errorOf(res)
	}
	return res, nil
}

// cause returns the error without the method and the URL, which Unreachable has.
func cause(err error) error {
	var e *url.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

// maxReply bounds a reply.
const maxReply = 1 << 30

// errorOf reads an error reply.
func (c *Client) errorOf(res *http.Response) error {
	data, err := io.ReadAll(io.LimitReader(res.Body, maxReply))
	if err != nil {
		return err
	}
	out := &Error{Status: res.StatusCode, Agent: c}
	var body struct {
		Error    string    `json:"error"`
		Decision *Decision `json:"decision"`
		Result   *Result   `json:"result"`
	}
	if json.Unmarshal(data, &body) == nil {
		out.Text, out.Decision, out.Result, out.Body = body.Error, body.Decision, body.Result, data
	}
	if out.Text == "" {
		out.Text = "the reply is " + res.Status
	}
	return out
}

// call sends a request and decodes its reply into out, unless that is nil. A *[]byte gets it as it
// is. It returns the status.
func (c *Client) call(ctx context.Context, r request, out any) (status int, err error) {
	watched, dog := watch(ctx, maxWait)
	defer dog.stop()
	res, err := c.do(watched, r)
	if err != nil {
		if err = dog.explain(ctx, err); errors.Is(err, errSilent) {
			err = &Unreachable{c.URL(), err}
		}
		return StatusOf(err), err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(dog.reader(res.Body), maxReply))
	if err != nil {
		return res.StatusCode, fmt.Errorf("read the reply of %s: %w", c.URL(), dog.explain(ctx, err))
	}
	if raw, ok := out.(*[]byte); ok {
		*raw = data
		return res.StatusCode, nil
	}
	if out == nil {
		return res.StatusCode, nil
	}
	if err := json.Unmarshal(data, out); err != nil {
		return res.StatusCode, fmt.Errorf("%s%s is not what an agent replies: %w", c.URL(), r.path, err)
	}
	return res.StatusCode, nil
}

func (c *Client) get(ctx context.Context, path string, out any) error {
	_, err := c.call(ctx, request{method: http.MethodGet, path: path}, out)
	return err
}

func (c *Client) post(ctx context.Context, path string, body, out any, header ...string) (status int, err error) {
	return c.once(ctx, request{method: http.MethodPost, path: path, body: body, header: header}, out)
}

// once sends a request that is carried out once, however often it has to be sent.
func (c *Client) once(ctx context.Context, r request, out any) (status int, err error) {
	r.header = append(r.header, "Idempotency-Key", rand.Text())
	for n := 0; ; n++ {
		status, err = c.call(ctx, r, out)
		if !isTransient(err) || n >= attempts || !c.wait(ctx, n) {
			return status, err
		}
	}
}

// attempts is how often a request is repeated.
const attempts = 4

// isTransient reports whether the request may succeed when it is repeated. A refused connection
// is not one: nothing listens there.
func isTransient(err error) bool {
	var gone *Unreachable
	switch {
	case errors.As(err, &gone):
		return !isRefused(err)
	case StatusOf(err) == http.StatusServiceUnavailable, StatusOf(err) == http.StatusTooManyRequests:
		return true
	}
	return errors.Is(err, io.ErrUnexpectedEOF)
}

// wait pauses after n failed attempts. It reports whether ctx is still alive.
func (c *Client) wait(ctx context.Context, n int) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(c.pause(n)):
		return true
	}
}
