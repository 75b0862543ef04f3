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

// errUnknown is in the error of a change that was sent, and of which nothing is known.
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

// send sends a request. Statuses of 400 and more are errors.
func (s *Server) send(ctx context.Context, o *api.Operation, arguments json.RawMessage, key string) (*outcome, error) {
	authorize, err := s.credentials.For(ctx, o.Security)
	if err != nil {
		return nil, err
	}
	var sent atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { sent.Store(true) }})
	request, err := o.Request(ctx, arguments, api.Call{Key: keyOf(o, key), Authorize: authorize})
	if err != nil {
		return nil, err
	}
	response, err := s.client.Do(request)
	if err != nil {
		return nil, failure(err, o, sent.Load())
	}
	defer response.Body.Close()
	result, err := read(response, s.config.MaxResponse)
	switch {
	case err != nil:
		return nil, failure(err, o, true)
	case !o.Hints.ReadOnly && (response.StatusCode == http.StatusBadGateway || response.StatusCode == http.StatusGatewayTimeout):
		return nil, fmt.Errorf("%w: %s", errUnknown, result.Text)
	case response.StatusCode >= http.StatusMultipleChoices:
		return nil, errors.New(result.Text)
	}
	return result, nil
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
func failure(err error, o *api.Operation, sent bool) error {
	var inner *url.Error
	if errors.As(err, &inner) {
		err = inner.Err
		if inner.Timeout() {
			err = errors.New("the API took too long")
		}
	}
	if sent && !o.Hints.ReadOnly {
		return fmt.Errorf("%w: %w", errUnknown, err)
	}
	return fmt.Errorf("the API does not answer: %w", err)
}
