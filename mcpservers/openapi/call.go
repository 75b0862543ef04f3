package openapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"

	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/openapi/api"

	"github.com/google/uuid"
	"github.com/mark3labs/mcp-go/mcp"
)

// errUnknown is wrapped by the error of a change that was sent and got no answer.
var errUnknown = errors.New("it is not known whether the call was made")

// call calls an operation, unless a change with the same idempotency key was made.
func (s *Server) call(ctx context.Context, request mcp.CallToolRequest, o *api.Operation, arguments json.RawMessage) (*outcome, error) {
	if o.Hints.ReadOnly {
		return s.send(ctx, o, arguments, "")
	}
	key, err := hosting.ParseCallKey(request, map[string]json.RawMessage{"operation": json.RawMessage(`"` + o.Name + `"`), "arguments": arguments})
	if err != nil {
		return nil, err
	}
	made, err := s.results.Do(ctx, o.Name, key, func() (any, error) { return s.send(ctx, o, arguments, key.Key) })
	if err != nil {
		return nil, err
	}
	if text, ok := made.(json.RawMessage); ok { // of the first call with the key
		result := new(outcome)
		return result, json.Unmarshal(text, result)
	}
	return made.(*outcome), nil
}

// send sends a request. Statuses of 300 and more are errors, but for what answers says. If the API does not
// take a token any more, what only reads is sent once more with a new one.
func (s *Server) send(ctx context.Context, o *api.Operation, arguments json.RawMessage, key string) (*outcome, error) {
	grant, err := s.credentials.For(ctx, o.Security)
	if err != nil {
		return nil, err
	}
	result, err := s.sendOnce(ctx, o, arguments, api.Call{Key: keyOf(o, key), Authorize: grant.Authorize})
	if err != nil {
		return nil, err
	}
	if result.Status == http.StatusUnauthorized && grant.Refused() && o.Hints.ReadOnly {
		if grant, err = s.credentials.For(ctx, o.Security); err != nil {
			return nil, err
		}
		if result, err = s.sendOnce(ctx, o, arguments, api.Call{Authorize: grant.Authorize}); err != nil {
			return nil, err
		}
	}
	return result, answers(o, result)
}

// sendOnce returns every response.
func (s *Server) sendOnce(ctx context.Context, o *api.Operation, arguments json.RawMessage, call api.Call) (*outcome, error) {
	var sent atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { sent.Store(true) }})
	request, err := o.Request(ctx, arguments, call)
	if err != nil {
		return nil, err
	}
	response, err := s.client.Do(request)
	if err != nil {
		return nil, s.failure(err, o, sent.Load())
	}
	defer response.Body.Close()
	result, err := read(response, s.config.MaxResponse, s.credentials.Mask)
	if err != nil {
		return nil, s.failure(err, o, true)
	}
	return result, nil
}

// answers returns the error that a response is. A change that leads elsewhere (303) was made; with 301 and
// 302 it may have been, because these were in use for that before 303 (RFC 9110 §15.4.2). A 307 or 308 says
// that it was not.
func answers(o *api.Operation, result *outcome) error {
	change := !o.Hints.ReadOnly
	switch result.Status {
	case http.StatusBadGateway, http.StatusGatewayTimeout, http.StatusMovedPermanently, http.StatusFound:
		if change {
			return fmt.Errorf("%w: %s", errUnknown, result.Text)
		}
	case http.StatusSeeOther:
		if change {
			result.Text += "\n(the call was made; Location is where its result is)"
			return nil
		}
	}
	if result.Status >= http.StatusMultipleChoices {
		return errors.New(result.Text)
	}
	return nil
}

// keyOf returns the value of the header Idempotency-Key. Those of APIs are short.
func keyOf(o *api.Operation, key string) string {
	if !o.Keyed() {
		return ""
	}
	if key == "" {
		return uuid.NewString()
	}
	sum := sha256.Sum256([]byte(o.Name + "\n" + key))
	return hex.EncodeToString(sum[:])
}

// failure is the error of a call without an answer. The URL, in which a key may be, is not in it.
func (s *Server) failure(err error, o *api.Operation, sent bool) error {
	var inner *url.Error
	if errors.As(err, &inner) {
		err = inner.Err
		if inner.Timeout() {
			err = errors.New("the API took too long")
		}
	}
	err = s.credentials.Short(err)
	if sent && !o.Hints.ReadOnly {
		return fmt.Errorf("%w: %w", errUnknown, err)
	}
	return fmt.Errorf("the API does not answer: %w", err)
}
