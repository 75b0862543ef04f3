package request

import (
	"context"
	"net/http"
	"strings"

	"agent-stop-and-go/gateway/service"
)

// Call is a request that is being served.
type Call struct {
	Caller service.Caller
	// Client ends when the client goes away. Unlike the context of the request it has no
	// deadline.
	Client context.Context
	// ConversationID is the conversation that the request is about, for the log; it is set
	// as soon as it is known.
	ConversationID string
}

type callKey struct{}

// With returns a context for what serves a call.
func With(ctx context.Context, c *Call) context.Context { return context.WithValue(ctx, callKey{}, c) }

// From is the call that ctx belongs to. Outside of one it is empty.
func From(ctx context.Context) *Call {
	if c, ok := ctx.Value(callKey{}).(*Call); ok {
		return c
	}
	return &Call{Client: ctx}
}

// Token is the bearer token of a request, or "".
func Token(r *http.Request) string {
	scheme, token, ok := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}
