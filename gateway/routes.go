package gateway

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/a2a/protocol"
	"agent-stop-and-go/gateway/agui/endpoint"
	"agent-stop-and-go/mcpservers/hosting/guard"
)

// Route is one operation of the API.
type Route struct {
	Method string
	Path   string // in Echo's form: /conversations/:id
}

const (
	pathAGUI   = "/ag-ui"
	pathA2A    = "/a2a"
	pathHealth = "/health"
	pathReady  = "/health/ready"
)

type route struct {
	Route
	handle echo.HandlerFunc
}

// handlers have the handlers of the routes.
type handlers struct {
	home   *home
	rest   *rest
	events *endpoint.Endpoint
	offers *offers
	health *health
	tasks  *protocol.Server
}

// tableOf lists all routes. Every GET route also answers HEAD, and every path may end with a
// slash.
func tableOf(h handlers) []route {
	docs := docsPage()
	return []route{
		{Route{"GET", "/"}, h.home.show},
		{Route{"GET", "/page/*"}, h.home.file}, // its scripts and styles

		{Route{"POST", "/conversations"}, h.rest.create},
		{Route{"GET", "/conversations"}, h.rest.list},
		{Route{"GET", "/conversations/:id"}, h.rest.show},
		{Route{"GET", "/conversations/:id/tree"}, h.rest.tree},
		{Route{"GET", "/conversations/:id/events"}, h.events.Follow},
		{Route{"GET", "/conversations/:id/media/:sha256"}, h.rest.media},
		{Route{"POST", "/conversations/:id/messages"}, h.rest.message},
		{Route{"POST", "/conversations/:id/cancel"}, h.rest.cancelTurn},
		{Route{"POST", "/conversations/:id/close"}, h.rest.closeConversation},
		{Route{"GET", "/conversations/:id/requests/:request_id"}, h.rest.request},

		{Route{"GET", "/approvals"}, h.rest.waiting},
		{Route{"GET", "/approvals/:uuid"}, h.rest.approval},
		{Route{"POST", "/approvals/:uuid"}, h.rest.decide},

		{Route{"POST", pathAGUI}, h.events.Run},
		{Route{"GET", pathAGUI}, h.events.Capabilities},

		{Route{"GET", "/tools"}, h.offers.tools},
		{Route{"GET", "/mcp/resources"}, h.offers.resources},
		{Route{"GET", "/mcp/prompts"}, h.offers.prompts},
		{Route{"GET", pathHealth}, h.health.alive},
		{Route{"GET", pathReady}, h.health.ready},

		{Route{"GET", "/docs"}, docs},
		{Route{"GET", "/docs/*"}, docs}, // the page's scripts and styles
		{Route{"GET", "/docs/json"}, serveDocsJSON},
		{Route{"GET", "/openapi.yaml"}, serveOpenAPI},

		{Route{"POST", pathA2A}, withoutDeadline(h.tasks.RPC)},
		{Route{"GET", pathA2A}, withoutDeadline(h.tasks.Card)},
		{Route{"GET", "/.well-known/agent-card.json"}, withoutDeadline(h.tasks.Card)},
		{Route{"GET", "/.well-known/agent.json"}, withoutDeadline(h.tasks.Card)},
	}
}

// withoutDeadline serves a handler whose requests may take long: their context has no
// deadline.
func withoutDeadline(handle http.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		handle(c.Response(), c.Request().WithContext(callOf(c).Client))
		return nil
	}
}

// serve puts the middleware in front of the routes.
func (g *Gateway) serve(d Deps) *echo.Echo {
	e := echo.New()
	e.HTTPErrorHandler = g.fail
	e.JSONSerializer = serializer{}
	e.Use(g.observe, g.identify, door(guard.Rules{Hosts: d.AllowedHosts, Origins: d.AllowedOrigins}), g.deadline, limitToken, limitBody)
	for _, r := range g.table {
		e.Add(r.Method, r.Path, r.handle)
		if r.Method == http.MethodGet {
			e.HEAD(r.Path, r.handle)
		}
	}
	return e
}
