package agentapi

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/command"
	"agent-stop-and-go/gateway/live"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// Numbers are the numbers that conversations have for a caller.
type Numbers interface {
	// Of returns the numbers of conversations by their IDs. Those without one get one, in this order.
	Of(ctx context.Context, c service.Caller, ids []string) (map[string]int, error)
	// Find returns the conversation with a number, or "".
	Find(ctx context.Context, c service.Caller, number int) (string, error)
}

// Options are the dependencies of an Endpoint.
type Options struct {
	Service   *service.Service
	Followers *live.Followers
	Commands  *command.Interpreter
	Numbers   Numbers
	// Model is the model of the agent.
	Model  string
	Logger *slog.Logger
	Now    func() time.Time
}

// Endpoint has the HTTP handlers of both ports. It is safe for concurrent use.
type Endpoint struct {
	Options
	slots   *lru.Cache[string, int] // where to look first for the session of a client
	notices *notices
}

// rememberedSlots is how many sessions are found without a search.
const rememberedSlots = 10_000

// New makes an Endpoint.
func New(o Options) *Endpoint {
	slots, _ := lru.New[string, int](rememberedSlots) // fails only for sizes below 1
	return &Endpoint{o, slots, newNotices(o.Now)}
}

// The channels of callers, and the ways of their decisions.
const (
	ChannelAPI   = "agent-api"
	ChannelShell = "shell"
)

// Route is a route of a port. Scope is as in package gateway.
type Route struct {
	Method, Path, Scope string
	Handle              echo.HandlerFunc
}

// anyone is the scope of routes for every proven caller.
const anyone = "any"

// API lists the routes of the API.
func (e *Endpoint) API() []Route {
	return []Route{
		{http.MethodPost, "/api/v1/submit", contract.ScopeConverse, e.apiSubmit},
		{http.MethodGet, "/api/v1/stream/:client_id", contract.ScopeRead, e.apiStream},
		{http.MethodPost, "/api/v1/gate/:gate_id", anyone, e.apiGate},
		{http.MethodGet, "/api/v1/sessions", contract.ScopeRead, e.sessions},
		{http.MethodGet, "/api/v1/health", anyone, e.apiHealth},
		{http.MethodDelete, "/api/v1/session/:client_id", contract.ScopeConverse, e.apiDelete},
	}
}

// Shell lists the routes of the shell.
func (e *Endpoint) Shell() []Route {
	return []Route{
		{http.MethodPost, "/submit", contract.ScopeConverse, e.shellSubmit},
		{http.MethodGet, "/stream", contract.ScopeRead, e.shellStream},
		{http.MethodPost, "/gate_response", anyone, e.shellGate},
		{http.MethodGet, "/sessions", contract.ScopeRead, e.sessions},
		{http.MethodGet, "/health", anyone, e.shellHealth},
		{http.MethodDelete, "/session/:client_id", contract.ScopeConverse, e.shellDelete},
	}
}
