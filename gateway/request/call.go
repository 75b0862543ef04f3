package request

import (
	"context"
	"net/http"
	"strings"

	"agent-stop-and-go/gateway/service"
)

type Call struct {
	Caller service.Caller
	// Client ends when the client disconnects. Unlike the context of the request it has no
	// deadline.
	Client context.Context
	// ConversationID is the conversation that the request is about, for the log. It is set as
	// soon as it is known.
	ConversationID string
}

type callKey struct{}

// With returns a context with the call.
func With(ctx context.Context, c *Call) context.Context { return context.WithValue(ctx, callKey{}, c) }

// From returns the call in ctx, or an empty one.
func From(ctx context.Context) *Call {
	if c, ok := ctx.Value(callKey{}).(*Call); ok {
		return c
	}
	return &Call{Client: ctx}
}

// Token returns the bearer token of a request, or "".
func Token(r *http.Request) string { return bearer(r.Header.Get("Authorization")) }

// ToolToken returns the bearer token for tools in a request whose Authorization proves who
// calls the gateway, or "".
func ToolToken(r *http.Request) string { return bearer(r.Header.Get("X-Tool-Authorization")) }

func bearer(header string) string {
	scheme, token, ok := strings.Cut(strings.TrimSpace(header), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}
