package mcpserver

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	"github.com/google/uuid"
	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/mark3labs/mcp-go/mcp"

	"agent-stop-and-go/gateway/service"
)

// maxCalls is how many calls can be cancelled. Those that ended are not among them, but those whose
// connection is lost are.
const maxCalls = 10_000

// calls are those that run, by their names. A call of the protocol without sessions has no name.
type calls struct{ *lru.Cache[string, *running] }

func newCalls() *calls {
	c, _ := lru.New[string, *running](maxCalls) // fails only for sizes below 1
	return &calls{c}
}

// running is a call that can be cancelled.
type running struct {
	mu        sync.Mutex
	cancelled bool
	reason    string
	cancel    func(reason string) // nil until something was sent
}

type callKey struct{}

// named returns a context with the name of the call that a request is.
func named(ctx context.Context, session string, id json.RawMessage) context.Context {
	if session == "" || len(id) == 0 {
		return ctx
	}
	return context.WithValue(ctx, callKey{}, nameOf(ctx, session, id))
}

func nameOf(ctx context.Context, session string, id json.RawMessage) string {
	return ownerOf(ctx) + "\n" + session + "\n" + string(id)
}

func (c *calls) begin(ctx context.Context) *running {
	r := &running{}
	if name, ok := ctx.Value(callKey{}).(string); ok {
		c.Add(name, r)
	}
	return r
}

func (c *calls) end(ctx context.Context) {
	if name, ok := ctx.Value(callKey{}).(string); ok {
		c.Remove(name)
	}
}

// started says how the call is cancelled from now on.
func (r *running) started(cancel func(reason string)) {
	r.mu.Lock()
	first := r.cancel == nil
	r.cancel = cancel
	cancelled, reason := r.cancelled && first, r.reason
	r.mu.Unlock()
	if cancelled {
		cancel(reason)
	}
}

// stop cancels the call, as soon as it has sent something.
func (r *running) stop(reason string) {
	r.mu.Lock()
	r.cancelled, r.reason = true, reason
	cancel := r.cancel
	r.mu.Unlock()
	if cancel != nil {
		cancel(reason)
	}
}

// message is the part of a JSON-RPC message that is looked at here.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method mcp.MCPMethod   `json:"method"`
	Params struct {
		RequestID json.RawMessage `json:"requestId"`
		Reason    string          `json:"reason"`
	} `json:"params"`
}

// take reads a message. If that cancels a call, the turn of the call is cancelled.
func (s *Server) take(ctx context.Context, session string, body []byte) context.Context {
	var m message
	_ = json.Unmarshal(body, &m) // mcp-go refuses what is not JSON
	switch m.Method {
	case mcp.MethodToolsCall:
		return named(ctx, session, m.ID)
	case mcp.MethodNotificationCancelled:
		name := nameOf(ctx, session, m.Params.RequestID)
		if r, ok := s.calls.Get(name); ok {
			s.calls.Remove(name)
			r.stop(m.Params.Reason)
		}
	}
	return ctx
}

// cancel cancels the turn of a request that has not settled.
func (a *ask) cancel(q service.Request, reason string) {
	ctx := context.WithoutCancel(a.ctx)
	settled, err := a.Exchanges.Service.Settled(ctx, q)
	if err == nil && settled != nil && (settled.Outcome.Result == nil || !settled.Outcome.Result.WaitingApproval) {
		return
	}
	if err == nil {
		cancelling := service.Request{ConversationID: q.ConversationID, ID: uuid.NewString(), MayBeCompleted: true}
		_, err = a.Exchanges.Service.CancelTurn(ctx, a.call.Caller, cancelling, service.Note{Reason: strings.ToValidUTF8(reason[:min(len(reason), service.MaxReason)], "")})
	}
	if err != nil {
		a.Logger.Warn("a turn could not be cancelled", "conversation", q.ConversationID, "error", err)
	}
}
