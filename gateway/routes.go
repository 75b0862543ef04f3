package gateway

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// Route is one operation of the API.
type Route struct {
	Method string
	Path   string // Echo's form: /conversations/:id
}

const (
	pathAGUI   = "/ag-ui"
	pathHealth = "/health"
	pathReady  = "/health/ready"
)

type route struct {
	Route
	handle echo.HandlerFunc
}

// table is the whole URL surface. Every GET answers HEAD too, and every path may
// have a slash at the end.
func (g *Gateway) table() []route {
	docs := g.docsPage()
	return []route{
		{Route{"GET", "/"}, g.home},

		{Route{"POST", "/conversations"}, g.create},
		{Route{"GET", "/conversations"}, g.list},
		{Route{"GET", "/conversations/:id"}, g.show},
		{Route{"GET", "/conversations/:id/tree"}, g.tree},
		{Route{"GET", "/conversations/:id/events"}, g.followEvents},
		{Route{"GET", "/conversations/:id/media/:sha256"}, g.media},
		{Route{"POST", "/conversations/:id/messages"}, g.message},
		{Route{"POST", "/conversations/:id/cancel"}, g.cancelTurn},
		{Route{"POST", "/conversations/:id/close"}, g.closeConversation},
		{Route{"GET", "/conversations/:id/requests/:request_id"}, g.request},

		{Route{"GET", "/approvals"}, g.waiting},
		{Route{"GET", "/approvals/:uuid"}, g.approval},
		{Route{"POST", "/approvals/:uuid"}, g.decide},

		{Route{"POST", pathAGUI}, g.agent},
		{Route{"GET", pathAGUI}, g.capabilities},

		{Route{"GET", "/tools"}, g.tools},
		{Route{"GET", "/mcp/resources"}, g.listResources},
		{Route{"GET", "/mcp/prompts"}, g.listPrompts},
		{Route{"GET", pathHealth}, g.health},
		{Route{"GET", pathReady}, g.ready},

		{Route{"GET", "/docs"}, docs},
		{Route{"GET", "/docs/*"}, docs}, // the page's own scripts and styles
		{Route{"GET", "/docs/json"}, g.docsJSON},
		{Route{"GET", "/openapi.yaml"}, g.openAPI},

		{Route{"POST", pathA2A}, g.a2a(g.tasks.RPC)},
		{Route{"GET", pathA2A}, g.a2a(g.tasks.Card)},
		{Route{"GET", "/.well-known/agent-card.json"}, g.a2a(g.tasks.Card)},
		{Route{"GET", "/.well-known/agent.json"}, g.a2a(g.tasks.Card)},
	}
}

// Routes lists the API's operations, without the parts of the docs page.
func (g *Gateway) Routes() []Route {
	var out []Route
	for _, r := range g.table() {
		if r.Path != "/docs/*" {
			out = append(out, r.Route)
		}
	}
	return out
}

func (g *Gateway) routes() *echo.Echo {
	e := echo.New()
	e.HTTPErrorHandler = g.fail
	e.JSONSerializer = serializer{}
	e.Use(g.observe, session, g.door, g.deadline, limitToken, limitBody)
	for _, r := range g.table() {
		e.Add(r.Method, r.Path, r.handle)
		if r.Method == http.MethodGet {
			e.HEAD(r.Path, r.handle)
		}
	}
	return e
}
