package toolbox

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// trace is the state of one request and its answer. It is in the request's context, and the
// transports fill it in.
type trace struct {
	// ownConnection requests a connection for this request alone.
	ownConnection bool
	// atMostOnce means that the request must not reach the server twice.
	atMostOnce bool

	sent atomic.Bool // the server may have received the request

	mu             sync.Mutex
	status         int // HTTP status; 0 if there was none
	id             *mcp.RequestId
	answers        []json.RawMessage // raw results, one per page
	refusal        *mcp.JSONRPCErrorDetails
	challenges     []string // WWW-Authenticate headers with the status
	inputRequested bool     // the last answer was a request for input
	bytes          int      // total size of all answers
	excess         error
	denial         error  // why the agent has no token that the server accepts
	session        string // ID of the session when the request was sent
}

// Limits of one list with all its pages.
const (
	maxPages     = 1000
	maxPageBytes = 64 << 20
	maxItems     = 10_000
)

var (
	errTooManyPages = fmt.Errorf("lists more than %d pages", maxPages)
	errTooManyBytes = fmt.Errorf("lists more than %d MiB", maxPageBytes>>20)
	errTooManyItems = fmt.Errorf("lists more than %d items", maxItems)
)

type traceKey struct{}

func withTrace(ctx context.Context, x *trace) context.Context {
	return context.WithValue(ctx, traceKey{}, x)
}

func traceOf(ctx context.Context) *trace {
	x, _ := ctx.Value(traceKey{}).(*trace)
	return x
}

// begin resets it before another request: a list has pages, and a call that asked for input is
// sent again.
func (x *trace) begin() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.status, x.inputRequested, x.denial = 0, false, nil
}

// recordAnswer records an answer, and returns the one for mcp-go: for a call an empty result
// (see withoutResult). A result that asks for input is not an answer; mcp-go handles it.
func (x *trace) recordAnswer(req transport.JSONRPCRequest, resp *transport.JSONRPCResponse) *transport.JSONRPCResponse {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.id = &req.ID
	if resp == nil {
		return nil
	}
	x.inputRequested = resp.Error == nil && asksForInput(resp.Result)
	switch {
	case resp.Error != nil:
		x.refusal = resp.Error
	case len(resp.Result) > 0 && !x.inputRequested:
		x.answers = append(x.answers, resp.Result)
		x.bytes += len(resp.Result)
	}
	if x.excess = x.tooMuch(req.Method); x.excess != nil {
		return endOfPages(resp, x.excess)
	}
	if req.Method == string(mcp.MethodToolsCall) && resp.Error == nil && !x.inputRequested {
		return withoutResult(resp)
	}
	return resp
}

func (x *trace) tooMuch(method string) error {
	switch {
	case !strings.HasSuffix(method, "/list"):
		return nil
	case len(x.answers) > maxPages:
		return errTooManyPages
	case x.bytes > maxPageBytes:
		return errTooManyBytes
	}
	return nil
}

func asksForInput(result json.RawMessage) bool {
	if !bytes.Contains(result, []byte("input_required")) {
		return false
	}
	var r struct {
		ResultType string `json:"resultType"`
	}
	return json.Unmarshal(result, &r) == nil && r.ResultType == "input_required"
}

// refusedHandshake reports whether the server has answered that it does not know initialize.
func (x *trace) refusedHandshake() bool {
	switch x.httpStatus() {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.refusal != nil || x.status/100 == 4
}

// recordStatus records the status of the request itself, not that of a redirect or of what the
// client posts while the answer streams in.
func (x *trace) recordStatus(resp *http.Response) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.status == 0 || x.status/100 == 3 {
		x.status, x.challenges = resp.StatusCode, resp.Header.Values("WWW-Authenticate")
	}
}

func (x *trace) httpStatus() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.status
}

func (x *trace) pages() []json.RawMessage {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.answers
}

// caller is the caller of a request. It is sent as HTTP headers and never to a child process.
type caller struct {
	bearer    string
	sessionID string
}

type callerKey struct{}

func withCaller(ctx context.Context, c caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

func callerOf(ctx context.Context) caller {
	c, _ := ctx.Value(callerKey{}).(caller)
	return c
}

func (c caller) headers() map[string]string {
	h := map[string]string{}
	if c.bearer != "" {
		h["Authorization"] = "Bearer " + c.bearer
	}
	if c.sessionID != "" {
		h["X-Session-ID"] = c.sessionID
	}
	return h
}

func isPost(r *http.Request) bool { return r.Method == http.MethodPost }
