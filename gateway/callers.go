package gateway

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/codec"
	"agent-stop-and-go/gateway/identity"
	"agent-stop-and-go/gateway/mcpserver"
	"agent-stop-and-go/gateway/ollama"
	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/serverlogin"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// KindUnauthenticated is the kind of requests that do not prove who calls.
const KindUnauthenticated contract.Kind = "unauthenticated"

// Who may use a route, besides the scopes of package contract.
const (
	// open routes are for everybody: probes, and what a client reads before it can log in.
	open = "none"
	// proven routes are for every caller whose identity is proven. What it may do there
	// depends on the body, and is decided by package access.
	proven = "any"
)

// authenticate proves who calls, and checks that the caller does not send too much and has the
// scope of the route. Behind it the context of the request works for the caller. Without ways to prove it does nothing.
func (g *Gateway) authenticate(next echo.HandlerFunc) echo.HandlerFunc {
	if len(g.callers) == 0 {
		return next
	}
	return func(c echo.Context) error {
		scope := g.fronts[c.Echo()].scopes(c)
		if scope == open {
			return next(c)
		}
		c.Response().Header().Set("Cache-Control", "private, no-cache") // a proxy must not show it to the next caller
		r := c.Request()
		caller, err := g.prove(codec.Proof(r))
		if err != nil && c.Path() == serverlogin.PathBegin && request.Prefers(r, "text/html") { // a link that a person follows
			return c.Redirect(http.StatusFound, callerOf(c).BaseURL+"/#/a/"+url.PathEscape(c.Param("uuid")))
		}
		if err != nil {
			return g.unproven(c, err)
		}
		caller.Channel = g.channelOf(c)
		callOf(c).Caller.Identity, callOf(c).Caller.Token = caller, g.tokenOnward(r)
		if err := g.quota.Take(r.Context(), caller); err != nil {
			return err
		}
		if scope != proven && !caller.May(scope) {
			g.challenge(c, `error="insufficient_scope", scope="`+scope+`"`)
			return service.Errorf(contract.KindForbidden, "this needs the scope %s", scope)
		}
		c.SetRequest(r.WithContext(service.ActingFor(r.Context(), caller)))
		return next(c)
	}
}

// tokenOnward returns the token of a request for tool servers and agents: the one that the caller
// has sent for them, otherwise the one that proves who calls, unless that is for nobody else.
func (g *Gateway) tokenOnward(r *http.Request) string {
	if g.dropTokens {
		return ""
	}
	return cmp.Or(request.ToolToken(r), g.callers.Token(r))
}

// scopesOf returns the scope of the route of a request. What is no route is for proven callers:
// the others learn nothing of what there is.
func scopesOf(table []route) func(echo.Context) string {
	all := map[string]string{}
	for _, r := range table {
		all[r.Method+" "+r.Path] = r.Scope
	}
	return func(c echo.Context) string {
		method := c.Request().Method
		if method == http.MethodHead {
			method = http.MethodGet
		}
		if scope, ok := all[method+" "+c.Path()]; ok {
			return scope
		}
		return proven
	}
}

// The channels of OpenAI's API and of the agent as an MCP server.
const (
	channelOpenAI = "openai"
	channelMCP    = "mcp"
)

func channelOf(path string) string {
	switch {
	case ollama.Is(path):
		return ollama.Channel
	case strings.HasPrefix(path, pathOpenAI):
		return channelOpenAI
	case path == mcpserver.Path:
		return channelMCP
	case path == pathAGUI:
		return contract.ChannelAGUI
	case path == pathA2A:
		return contract.ChannelA2A
	}
	return contract.ChannelREST
}

// unproven returns the error of a request that does not prove who calls.
func (g *Gateway) unproven(c echo.Context, err error) error {
	var refused *identity.Refused
	var away *identity.Unavailable
	var forgery *identity.Forgery
	var many *identity.TooMany
	switch {
	case errors.As(err, &many):
		return service.Busy(many.Wait, "%s", many)
	case errors.As(err, &forgery):
		return service.Errorf(KindForeignPage, "%s", forgery.Reason)
	case errors.As(err, &away):
		return service.Errorf(service.KindUnavailable, "%s", away.Reason).Because(away)
	case errors.As(err, &refused):
		g.challenge(c, `error="invalid_token"`)
	default:
		g.challenge(c)
	}
	return service.Errorf(KindUnauthenticated, "%s; this agent accepts %s", err.Error(), g.callers)
}

// challenge sets WWW-Authenticate (RFC 6750 §3).
func (g *Gateway) challenge(c echo.Context, params ...string) {
	if where := g.mcp.Challenge(c.Path(), callerOf(c).BaseURL); where != "" {
		params = append(params, where)
	}
	c.Response().Header().Set("WWW-Authenticate", strings.TrimSpace("Bearer "+strings.Join(params, ", ")))
}

// meReply says who calls.
type meReply struct {
	// Authenticated is false if nobody has to prove who calls.
	Authenticated bool     `json:"authenticated"`
	Subject       string   `json:"subject,omitempty"`
	Issuer        string   `json:"issuer,omitempty"`
	Groups        []string `json:"groups,omitempty"`
	Scopes        []string `json:"scopes,omitempty"`
}

// me replies with what is proven of the caller.
func me(c echo.Context) error {
	i := callerOf(c).Identity
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.JSON(http.StatusOK, meReply{i.Authenticated(), i.Subject, i.Issuer, i.Groups, i.Scopes})
}
