package gateway

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/agentapi"
	"agent-stop-and-go/gateway/command"
	"agent-stop-and-go/gateway/ollama"
	"agent-stop-and-go/gateway/service"
)

// front is what is served on a port. No front has the routes of another.
type front struct {
	handler *echo.Echo
	// scopes returns the scope of the route of a request.
	scopes func(echo.Context) string
	// channel is that of its callers; "" is that of the path.
	channel string
}

// Ollama returns the handler of Ollama's API, which has a port of its own. Callers prove who they are as
// for the rest of the API.
func (g *Gateway) Ollama() http.Handler { return g.ollama.handler }

// AgentAPI returns the handler of the API of MCP Agent, and Shell that of its shell, as Ollama does.
func (g *Gateway) AgentAPI() http.Handler { return g.agentAPI.handler }

func (g *Gateway) Shell() http.Handler { return g.shell.handler }

// open makes the front of a table of routes. probes are paths that answer under any host name.
func (g *Gateway) open(d Deps, table []route, channel string, probes ...string) front {
	f := front{g.serve(d, table, probes), scopesOf(table), channel}
	g.fronts[f.handler] = f
	return f
}

// openAgentAPI makes the fronts for clients of MCP Agent.
func (g *Gateway) openAgentAPI(d Deps, s *service.Service) {
	ep := agentapi.New(agentapi.Options{
		Service: s, Followers: g.followers, Commands: command.New(s), Numbers: d.Numbers, Model: d.Agent.Model, Logger: d.Logger, Now: d.Now,
	})
	table := func(routes []agentapi.Route) (table []route) {
		for _, r := range routes {
			table = append(table, route{Route{r.Method, r.Path, r.Scope, ""}, r.Handle})
		}
		return table
	}
	g.agentAPI, g.shell = g.open(d, table(ep.API()), agentapi.ChannelAPI), g.open(d, table(ep.Shell()), agentapi.ChannelShell)
}

// channelOf returns the channel of the caller of a request.
func (g *Gateway) channelOf(c echo.Context) string {
	if channel := g.fronts[c.Echo()].channel; channel != "" {
		return channel
	}
	return channelOf(c.Path())
}

// ofAgentAPI reports whether a request is for a port of MCP Agent's clients.
func (g *Gateway) ofAgentAPI(c echo.Context) bool {
	return c.Echo() == g.agentAPI.handler || c.Echo() == g.shell.handler
}

// ollamaTable lists the routes of Ollama's API, and those of OpenAI's, which Ollama has too.
func ollamaTable(ep *ollama.Endpoint, main []route) (table []route) {
	for _, r := range ep.Routes() {
		table = append(table, route{Route{r.Method, r.Path, r.Scope, ""}, r.Handle})
	}
	for _, r := range main {
		if r.Path == pathChat {
			r.handle = ep.Either(r.handle)
		}
		if channelOf(r.Path) == channelOpenAI {
			table = append(table, r)
		}
	}
	return table
}

// hostOf returns under which name and port a client reaches the API.
func (g *Gateway) hostOf(c echo.Context) string {
	host := c.Request().Host
	if c.Echo() == g.main.handler || g.port == 0 {
		return host
	}
	name := (&url.URL{Host: host}).Hostname() // [::1] is ::1, also without a port
	return net.JoinHostPort(name, strconv.Itoa(g.port))
}

// openAIForm reports whether a client expects errors of OpenAI's API.
func (g *Gateway) openAIForm(c echo.Context) bool {
	return !g.ofAgentAPI(c) && channelOf(c.Request().URL.Path) == channelOpenAI && !(c.Echo() == g.ollama.handler && ollama.Expected(c.Request()))
}

// takesFiles reports whether the requests of a route may be larger.
func takesFiles(path string) bool {
	return ollama.TakesFiles(path) || slices.Contains(withFiles, path)
}
