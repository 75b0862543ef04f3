package peer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"agent-stop-and-go/activities/mask"
)

// Limits of answers: bytes of an answer; number of objects and lists in it, which take far more
// memory than bytes; bytes of one event of a stream and of all its events.
const (
	maxAnswer = 16 << 20
	maxValues = 500_000
	maxEvent  = 1 << 20
	maxStream = 32 << 20
)

var (
	errTooLarge   = errors.New("the answer is too large")
	errUnreadable = errors.New("the answer is not A2A")
	errClosed     = errors.New("the worker is stopping")
	errNoEndpoint = errors.New("its card names no JSON-RPC interface of A2A 1.0 or 0.3")
)

// session is one Send.
type session struct {
	agent    *agent
	endpoint endpoint
	msg      Message
	mask     *mask.Mask
	// understood: the agent has answered the message with a task or a message.
	understood bool
}

var requests atomic.Int64 // source of request IDs, which must be integers in the old dialect

type rpcRequest struct {
	Version string `json:"jsonrpc"`
	ID      int64  `json:"id"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
}

type rpcResponse struct {
	Result json.RawMessage `json:"result"`
	Error  *rpcError       `json:"error"`
}

// call sends a request and reads its result into out.
func (x *session) call(ctx context.Context, method string, params, out any) error {
	resp, err := x.post(ctx, x.agent.client, "application/json", method, params)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return x.read(resp, out)
}

// post sends a request. Its errors are wireErrors.
func (x *session) post(ctx context.Context, client *http.Client, accept, method string, params any) (*http.Response, error) {
	body, err := json.Marshal(rpcRequest{Version: "2.0", ID: requests.Add(1), Method: method, Params: params})
	if err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	var sent atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { sent.Store(true) }})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, x.endpoint.url, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make a request: %w", err)
	}
	x.agent.addHeaders(req.Header, x.msg.Bearer, x.msg.SessionID)
	x.endpoint.addHeaders(req.Header)
	if x.atMostOnce(method) {
		client, req.GetBody = x.agent.strict, nil // so that net/http sends it only once, too
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", accept)
	resp, err := client.Do(req)
	if err != nil {
		return nil, &wireError{err: err, sent: sent.Load()}
	}
	return resp, nil
}

// addHeaders adds the caller's headers, then those of the configuration.
func (a *agent) addHeaders(header http.Header, bearer, session string) {
	if bearer != "" {
		header.Set("Authorization", "Bearer "+bearer)
	}
	if session != "" {
		header.Set("X-Session-ID", session)
	}
	for name, value := range a.Headers {
		header.Set(name, value)
	}
}

// addHeaders adds the headers of the protocol.
func (w endpoint) addHeaders(header http.Header) {
	if w.protocol == V1 {
		header.Set(a2a.SvcParamVersion, string(V1))
	}
	if w.hitl {
		header.Set(a2a.SvcParamExtensions, hitlExtension)
	}
	if w.hitl && w.protocol == V03 {
		header.Set("X-"+a2a.SvcParamExtensions, hitlExtension)
	}
}

// read reads an answer. A JSON-RPC answer is used even if its status is a failure.
func (x *session) read(resp *http.Response, out any) error {
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden,
		resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusServiceUnavailable:
		return newStatusError(resp, data, x.mask)
	case err != nil:
		return &wireError{err: fmt.Errorf("read the answer: %w", err), sent: true}
	case len(data) > maxAnswer:
		return fmt.Errorf("%w: more than %d MiB", errTooLarge, maxAnswer>>20)
	case bytes.Count(data, []byte("{"))+bytes.Count(data, []byte("[")) > maxValues:
		return fmt.Errorf("%w: more than %d values", errTooLarge, maxValues)
	}
	err = x.decode(data, out)
	if errors.Is(err, errUnreadable) && resp.StatusCode != http.StatusOK {
		return newStatusError(resp, data, x.mask)
	}
	return err
}

// decode reads a response with its secrets hidden. Errors may quote a part of what was sent.
func (x *session) decode(data []byte, out any) error {
	err := readResponse(x.mask.JSON(data), out)
	if e := new(rpcError); errors.As(err, &e) {
		e.Message = x.mask.Excerpt(e.Message)
	}
	return err
}

func readResponse(data []byte, out any) error {
	var r rpcResponse
	if err := json.Unmarshal(data, &r); err != nil {
		return fmt.Errorf("%w: %w", errUnreadable, err)
	}
	switch {
	case r.Error != nil:
		return r.Error
	case len(r.Result) == 0 || string(r.Result) == "null":
		return fmt.Errorf("%w: neither a result nor an error", errUnreadable)
	}
	if err := json.Unmarshal(r.Result, out); err != nil {
		return fmt.Errorf("%w: %w", errUnreadable, err)
	}
	return nil
}

// retryAfter reads seconds or a date.
func retryAfter(header http.Header) time.Duration {
	text := header.Get("Retry-After")
	if seconds, err := strconv.Atoi(text); err == nil {
		return max(0, min(time.Duration(seconds), longestRetry/time.Second)*time.Second)
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}
