package gateway

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/a2a/protocol"
	"agent-stop-and-go/gateway/agui/endpoint"
	"agent-stop-and-go/gateway/codec"
	"agent-stop-and-go/gateway/control"
	"agent-stop-and-go/gateway/desk"
	"agent-stop-and-go/gateway/home"
	"agent-stop-and-go/gateway/login"
	"agent-stop-and-go/gateway/mcpserver"
	"agent-stop-and-go/gateway/offers"
	"agent-stop-and-go/gateway/openai"
	"agent-stop-and-go/gateway/openai/chat"
	"agent-stop-and-go/gateway/openai/responses"
	"agent-stop-and-go/gateway/serverlogin"
	"agent-stop-and-go/gateway/slackchat"
	"agent-stop-and-go/gateway/witness"
	"agent-stop-and-go/mcpservers/hosting/guard"
	"agent-stop-and-go/workflows/contract"
)

// Route is one operation of the API.
type Route struct {
	Method string
	Path   string // in Echo's form: /conversations/:id
	// Scope is what a caller needs: a scope of package contract, "none" or "any". Object is what
	// the caller must be allowed to see besides: a conversation, an approval, a thread, or "". openapi.yaml
	// says the same as x-scope and x-object.
	Scope, Object string
}

// The objects of routes.
const (
	ofConversation = "conversation"
	ofApproval     = "approval"
	ofThread       = "thread" // a conversation, or a new one if the caller sees none
)

const (
	pathConversations = "/conversations"
	pathMessages      = "/conversations/:id/messages"

	pathAGUI      = "/ag-ui"
	pathA2A       = "/a2a"
	pathOpenAI    = "/v1/"
	pathChat      = "/v1/chat/completions"
	pathResponses = "/v1/responses"
	pathCompact   = "/v1/responses/compact"
	pathHealth    = "/health"
	pathReady     = "/health/ready"
)

type route struct {
	Route
	handle echo.HandlerFunc
}

// handlers have the handlers of the routes.
type handlers struct {
	home   *home.Home
	rest   *rest
	events *endpoint.Endpoint
	offers *offers.Endpoint
	health *health
	tasks  *protocol.Server
	slack  *slackchat.Chat
	signer *witness.Endpoint
	login  *login.Endpoint
	server *serverlogin.Endpoint
	desk   *desk.Endpoint
	codec  *codec.Endpoint

	control *control.Endpoint

	models    openai.Models
	chat      *chat.Endpoint
	responses *responses.Endpoint
	mcp       *mcpserver.Server
}

// tableOf lists all routes. Every GET route also answers HEAD, and every path may end with a
// slash.
func tableOf(h handlers) []route {
	docs := docsPage()
	return []route{
		{Route{"GET", "/", open, ""}, h.home.Show}, // it says how to log in
		{Route{"GET", "/page/*", open, ""}, h.home.File},

		{Route{"POST", pathConversations, contract.ScopeConverse, ""}, h.rest.create},
		{Route{"GET", pathConversations, contract.ScopeRead, ""}, h.rest.list},
		{Route{"GET", "/conversations/:id", contract.ScopeRead, ofConversation}, h.rest.show},
		{Route{"PATCH", "/conversations/:id", contract.ScopeConverse, ofConversation}, h.rest.rename},
		{Route{"DELETE", "/conversations/:id", contract.ScopeConverse, ofConversation}, h.rest.deleteConversation},
		{Route{"GET", "/conversations/:id/export", contract.ScopeRead, ofConversation}, h.rest.export},
		{Route{"GET", "/conversations/:id/tree", contract.ScopeRead, ofConversation}, h.rest.tree},
		{Route{"GET", "/conversations/:id/events", contract.ScopeRead, ofConversation}, h.events.Follow},
		{Route{"GET", "/conversations/:id/media/:sha256", contract.ScopeRead, ofConversation}, h.rest.media},
		{Route{"POST", pathMessages, contract.ScopeConverse, ofConversation}, h.rest.message},
		{Route{"POST", "/conversations/:id/cancel", contract.ScopeConverse, ofConversation}, h.rest.cancelTurn},
		{Route{"POST", "/conversations/:id/close", contract.ScopeConverse, ofConversation}, h.rest.closeConversation},
		{Route{"GET", "/conversations/:id/requests/:request_id", contract.ScopeRead, ofConversation}, h.rest.request},

		{Route{"POST", "/commands", proven, ""}, h.rest.command},

		{Route{"GET", "/approvals", contract.ScopeRead, ""}, h.rest.waiting},
		{Route{"POST", "/approvals", proven, ""}, h.rest.decideAll}, // each is checked like a single one
		{Route{"GET", "/approvals/:uuid", contract.ScopeRead, ofApproval}, h.rest.approval},
		{Route{"POST", "/approvals/:uuid", proven, ofApproval}, h.rest.decide},
		{Route{"POST", desk.PathLater, proven, ofApproval}, h.desk.Later},
		{Route{"GET", desk.PathDeputies, proven, ""}, h.desk.List},
		{Route{"POST", desk.PathDeputies, contract.ScopeApprove, ""}, h.desk.Appoint},
		{Route{"DELETE", desk.PathDeputy, proven, ""}, h.desk.Revoke},
		{Route{"POST", desk.PathAlways, proven, ofApproval}, h.desk.Always},
		{Route{"GET", desk.PathGrants, contract.ScopeRead, ""}, h.desk.ListGrants},
		{Route{"GET", desk.PathGrant, contract.ScopeRead, ""}, h.desk.ShowGrant},
		{Route{"DELETE", desk.PathGrant, proven, ""}, h.desk.RevokeGrant},
		{Route{"GET", serverlogin.PathBegin, proven, ofApproval}, h.server.Begin},
		{Route{"POST", serverlogin.PathBegin, proven, ofApproval}, h.rest.loggedIn},
		{Route{"GET", serverlogin.PathCallback, open, ""}, h.server.Complete},
		{Route{"GET", serverlogin.PathClient, open, ""}, h.server.Client},

		{Route{"POST", pathAGUI, proven, ofThread}, h.events.Run},
		{Route{"GET", pathAGUI, contract.ScopeRead, ""}, h.events.Capabilities},

		{Route{"POST", mcpserver.Path, proven, ""}, h.mcp.Serve}, // each method says what it needs
		{Route{"GET", mcpserver.Path, proven, ""}, h.mcp.Serve},
		{Route{"DELETE", mcpserver.Path, proven, ""}, h.mcp.Serve},
		{Route{"GET", mcpserver.PathMetadata, open, ""}, h.mcp.Metadata},
		{Route{"GET", mcpserver.PathMetadata + mcpserver.Path, open, ""}, h.mcp.Metadata},

		{Route{"GET", "/v1/models", proven, ""}, h.models.List},
		{Route{"GET", "/v1/models/:model", proven, ""}, h.models.Show},
		{Route{"POST", pathChat, contract.ScopeConverse, ""}, h.chat.Complete},
		{Route{"POST", pathResponses, contract.ScopeConverse, ""}, h.responses.Create},
		{Route{"GET", pathResponses, contract.ScopeConverse, ""}, h.responses.Connect}, // a WebSocket
		{Route{"POST", pathCompact, contract.ScopeConverse, ""}, h.responses.Compact},
		{Route{"GET", "/v1/responses/:response", contract.ScopeRead, ofConversation}, h.responses.Show},
		{Route{"DELETE", "/v1/responses/:response", contract.ScopeConverse, ofConversation}, h.responses.Delete},
		{Route{"POST", "/v1/responses/:response/cancel", contract.ScopeConverse, ofConversation}, h.responses.Cancel},
		{Route{"GET", "/v1/responses/:response/input_items", contract.ScopeRead, ofConversation}, h.responses.Inputs},

		{Route{"GET", "/control/switches", contract.ScopeRead, ""}, h.control.Switches},
		{Route{"POST", "/control/pause", contract.ScopeOperate, ""}, h.control.Pause},
		{Route{"POST", "/control/resume", contract.ScopeOperate, ""}, h.control.Resume},
		{Route{"GET", "/control/limits", contract.ScopeRead, ""}, h.control.Limits},
		{Route{"POST", "/control/limits", contract.ScopeOperate, ""}, h.control.ChangeLimit},
		{Route{"GET", "/control/releases", contract.ScopeOperate, ""}, h.control.Releasable},
		{Route{"POST", "/control/releases", contract.ScopeOperate, ""}, h.control.Release},

		{Route{"POST", codec.PathDecode, contract.ScopeReadAll, ""}, h.codec.Decode},
		{Route{"POST", codec.PathEncode, contract.ScopeReadAll, ""}, h.codec.Encode},

		{Route{"GET", login.PathMethods, open, ""}, h.login.List},
		{Route{"GET", login.PathSession, open, ""}, h.login.Show},
		{Route{"POST", login.PathSession, open, ""}, h.login.WithKey},
		{Route{"POST", login.PathRenewal, open, ""}, h.login.Renew},
		{Route{"GET", login.PathLogin, open, ""}, h.login.Begin},
		{Route{"GET", login.PathCallback, open, ""}, h.login.Complete},
		{Route{"GET", slackchat.Path, open, ""}, h.slack.Show},
		{Route{"POST", slackchat.Path, open, ""}, h.slack.Confirm},
		{Route{"POST", witness.PathAdd, open, ""}, h.signer.Add}, // what the log has signed is the proof
		{Route{"GET", witness.PathShow, open, ""}, h.signer.Show},
		{Route{"POST", login.PathLogout, open, ""}, h.login.End},
		{Route{"GET", "/me", proven, ""}, me},
		{Route{"GET", "/tools", contract.ScopeRead, ""}, h.offers.Tools},
		{Route{"GET", "/mcp/resources", contract.ScopeRead, ""}, h.offers.Resources},
		{Route{"GET", "/mcp/prompts", contract.ScopeRead, ""}, h.offers.Prompts},
		{Route{"GET", pathHealth, open, ""}, h.health.alive},
		{Route{"GET", pathReady, open, ""}, h.health.ready},

		{Route{"GET", "/docs", contract.ScopeRead, ""}, docs},
		{Route{"GET", "/docs/*", contract.ScopeRead, ""}, docs}, // the page's scripts and styles
		{Route{"GET", "/docs/json", contract.ScopeRead, ""}, serveDocsJSON},
		{Route{"GET", "/openapi.yaml", contract.ScopeRead, ""}, serveOpenAPI},

		{Route{"POST", pathA2A, proven, ofConversation}, withoutDeadline(h.tasks.RPC)},
		{Route{"GET", pathA2A, open, ""}, withoutDeadline(h.tasks.Card)},
		{Route{"GET", "/.well-known/agent-card.json", open, ""}, withoutDeadline(h.tasks.Card)},
		{Route{"GET", "/.well-known/agent.json", open, ""}, withoutDeadline(h.tasks.Card)},
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

// serve puts the middleware in front of routes.
func (g *Gateway) serve(d Deps, table []route, probes []string) *echo.Echo {
	e := echo.New()
	e.HTTPErrorHandler = g.fail
	e.JSONSerializer = serializer{}
	e.Use(g.observe, g.identify, door(guard.Rules{Hosts: d.AllowedHosts, Origins: d.AllowedOrigins}, guard.Rules{Hosts: d.AllowedHosts, Origins: d.WebUIOrigins}, probes), g.authenticate, g.deadline, g.follow, g.resolve, limitToken, limitBody)
	for _, r := range table {
		e.Add(r.Method, r.Path, r.handle)
		if r.Method == http.MethodGet {
			e.HEAD(r.Path, r.handle)
		}
	}
	return e
}
