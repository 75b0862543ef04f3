package toolbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// How many requests of a server are answered concurrently over a connection, and how many
// questions and samples may be open: more get no answer, or an error. A server may ask faster
// than it reads the answers.
const (
	maxAnswers = 1000
	maxAsked   = 1000
)

// answerLimit is how long a server may take to accept an answer.
const answerLimit = 30 * time.Second

var errAsksTooMuch = errors.New("too much is asked at a time")

// slots limit concurrency.
type slots chan struct{}

func (t slots) acquire() bool {
	select {
	case t <- struct{}{}:
		return true
	default:
		return false
	}
}

func (t slots) release() { <-t }

// respond answers a request of the server. A failure is an answer too.
func respond(ctx context.Context, handler transport.RequestHandler, req transport.JSONRPCRequest) *transport.JSONRPCResponse {
	resp, err := handler(ctx, req)
	if err != nil {
		return transport.NewJSONRPCErrorResponse(req.ID, mcp.INTERNAL_ERROR, err.Error(), nil)
	}
	return resp
}

// postAnswer posts an answer to a server over HTTP.
func postAnswer(ctx context.Context, client *http.Client, url string, header http.Header, resp *transport.JSONRPCResponse) error {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	body, err := json.Marshal(resp)
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("post the answer: %w", err)
	}
	req.Header = header
	req.Header.Set("Content-Type", "application/json")
	for name, value := range callerOf(ctx).headers() {
		req.Header.Set(name, value)
	}
	taken, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("post the answer: %w", err)
	}
	return taken.Body.Close()
}
