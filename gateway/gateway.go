package gateway

import (
	"context"
	"io/fs"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/a2a/handler"
	"agent-stop-and-go/gateway/a2a/protocol"
	"agent-stop-and-go/gateway/agentapi"
	"agent-stop-and-go/gateway/agui/endpoint"
	"agent-stop-and-go/gateway/codec"
	"agent-stop-and-go/gateway/command"
	"agent-stop-and-go/gateway/control"
	"agent-stop-and-go/gateway/desk"
	"agent-stop-and-go/gateway/exchange"
	"agent-stop-and-go/gateway/history"
	"agent-stop-and-go/gateway/home"
	"agent-stop-and-go/gateway/identity"
	"agent-stop-and-go/gateway/identity/attempts"
	"agent-stop-and-go/gateway/identity/forwarded"
	"agent-stop-and-go/gateway/identity/session"
	"agent-stop-and-go/gateway/live"
	"agent-stop-and-go/gateway/login"
	"agent-stop-and-go/gateway/mcpserver"
	"agent-stop-and-go/gateway/offers"
	"agent-stop-and-go/gateway/ollama"
	"agent-stop-and-go/gateway/openai"
	"agent-stop-and-go/gateway/openai/chat"
	"agent-stop-and-go/gateway/openai/responses"
	"agent-stop-and-go/gateway/openai/talk"
	"agent-stop-and-go/gateway/passcode"
	"agent-stop-and-go/gateway/quota"
	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/serverlogin"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/service/access"
	"agent-stop-and-go/gateway/service/graves"
	"agent-stop-and-go/gateway/service/search"
	"agent-stop-and-go/gateway/slackchat"
	"agent-stop-and-go/gateway/witness"
	"agent-stop-and-go/mcpservers/hosting/guard"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/modality"
	"agent-stop-and-go/workflows/contract/rates"
	"agent-stop-and-go/workflows/credential"
	"agent-stop-and-go/workflows/record/transcript"
)

// Deps are the dependencies and settings of a gateway.
type Deps struct {
	// Backend runs the conversations.
	Backend service.Backend
	// Agent is the agent of new conversations, TaskQueue the one of their workflows.
	Agent     contract.Agent
	TaskQueue string
	Blobs     transcript.Store
	// Graves has the tombstones of deleted conversations. Without it they are unknown ones.
	Graves service.Graves
	// Callers are the ways in which callers prove who they are. Without any, whoever reaches
	// the gateway may call it, and sees everything.
	Callers identity.Ways
	// Proxies are known proxies in front of the gateway, which say with which scheme and from which
	// address a client has come. Programs on this machine may say so, too.
	Proxies forwarded.Proxies
	// SharedGroups are as in Options of package service.
	SharedGroups map[string][]string
	// Sessions are those of browsers, nil if nobody can log in with one. They are one of Callers.
	Sessions *session.Sessions
	// Logins are those of people to servers, for calls that wait for them; nil if there are none.
	Logins serverlogin.Logins
	// Methods tell clients how to log in.
	Methods []identity.Method
	// Quota limits what one of Callers may take; it may be nil.
	Quota *quota.Quota
	// DropTokens drops the tokens of callers who prove who they are: no tool server and no agent
	// gets one, or another for it.
	DropTokens bool
	// Takes is as in service.Options.
	Takes func(model string) modality.Set
	// SealCallers and SendRights are as in service.Options.
	SealCallers, SendRights bool
	// ProofInterval is how often the proof of a caller with an open stream is checked. The
	// default is 5 seconds.
	ProofInterval time.Duration
	// SocketLifetime is how long a WebSocket may last, an hour by default.
	SocketLifetime time.Duration
	// Approvers are the rules of who may decide approvals; see package approvers.
	Approvers []string
	// Rates are the rate limits of the configuration.
	Rates  []rates.Limit
	Grants desk.Grants // nil has none
	// Exports contains the exported conversations, which are shown while no worker answers.
	// It may be nil.
	Exports fs.FS
	// Room fails like a write if the disk of the Temporal server is full. It is nil if the
	// server is another process.
	Room func(context.Context) error
	// Keyring seals bearer tokens. Without it they are dropped.
	Keyring *credential.Keyring
	// Logger is slog.Default by default.
	Logger *slog.Logger
	// RequestTimeout is how long a request waits for its answer before it gets a 202. The
	// default is service.DefaultRequestTimeout.
	RequestTimeout time.Duration
	// Feed publishes events of conversations. If it is nil, readers of a conversation get
	// recorded messages only, and no drafts.
	Feed live.Feed
	Pace live.Pace
	// Now is time.Now by default.
	Now     func() time.Time
	Version string
	// Numbers are the numbers of conversations, for clients that know them by numbers. It may be nil.
	Numbers agentapi.Numbers
	// Port is the port of the API, for links to it on other ports.
	Port int
	// PublicURL is the URL at which clients reach the gateway, without a slash at the end. By
	// default it is derived from each request.
	PublicURL string
	// AllowedHosts are host names of the gateway besides those of loopback. Requests for
	// other hosts are refused.
	AllowedHosts []string
	// AllowedOrigins are origins of other pages that may call the API, such as
	// https://chat.example.com.
	AllowedOrigins []string
	// WebUI is the URL of the Temporal Web UI, or "".
	WebUI string
	// Namespace is the Temporal namespace, for links to the Web UI.
	Namespace string
	// Codec decrypts for the Web UI; nil if nothing is encrypted. WebUIOrigins are the origins
	// of Web UIs that may ask for it.
	Codec        codec.Codec
	WebUIOrigins []string
	// Provider is the organization named in the agent's card.
	Provider Provider
	// Witness countersigns the checkpoints of the logs of others, nil if the agent is no witness.
	Witness *witness.Endpoint
	// Slack has the settings of the front end in Slack, nil if there is none.
	Slack *slackchat.Settings
}

// Provider is an organization and its web site.
type Provider struct{ Organization, URL string }

func (p Provider) ofCard() *a2a.AgentProvider {
	if p.Organization == "" {
		return nil
	}
	return &a2a.AgentProvider{Org: p.Organization, URL: p.URL}
}

func (d Deps) withDefaults() Deps {
	if d.Logger == nil {
		d.Logger = slog.Default()
	}
	if d.RequestTimeout <= 0 {
		d.RequestTimeout = service.DefaultRequestTimeout
	}
	if d.ProofInterval <= 0 {
		d.ProofInterval = defaultProofInterval
	}
	d.Pace = d.Pace.WithDefaults()
	if d.Now == nil {
		d.Now = time.Now
	}
	return d
}

// Gateway is the API as an http.Handler. It is safe for concurrent use.
type Gateway struct {
	service   *service.Service
	followers *live.Followers
	health    *health
	// main has the API, the others have the ports for clients of other protocols. fronts has all.
	main, ollama, agentAPI, shell front
	fronts                        map[*echo.Echo]front
	table                         []route
	port                          int
	callers                       identity.Ways
	quota                         *quota.Quota
	tasks                         *protocol.Server
	mcp                           *mcpserver.Server
	slack                         *slackchat.Chat
	proxies                       forwarded.Proxies
	attempts                      *attempts.Attempts
	// dropTokens is as in Deps.
	dropTokens bool

	logger         *slog.Logger
	now            func() time.Time
	requestTimeout time.Duration
	proofInterval  time.Duration
	publicURL      string
}

// New makes a gateway. It must be closed.
func New(deps Deps) *Gateway {
	d := deps.withDefaults()
	var see func(context.Context, string) error
	if d.Graves != nil {
		d.Backend = graves.New(d.Backend, d.Graves)
	}
	d.Backend = d.Quota.Backend(d.Backend)
	if len(d.Callers) > 0 {
		b := access.New(d.Backend, d.Approvers, len(d.SharedGroups) > 0)
		d.Backend, see = b, b.See
	}
	s := service.New(service.Options{
		Backend: d.Backend, See: see, SharedGroups: d.SharedGroups, Agent: d.Agent, TaskQueue: d.TaskQueue, Blobs: d.Blobs, Exports: d.Exports, Room: d.Room, Keyring: d.Keyring, SealCallers: d.SealCallers, Takes: d.Takes, SendRights: d.SendRights, Logger: d.Logger,
		RequestTimeout: d.RequestTimeout, Now: d.Now,
	})
	g := &Gateway{service: s, fronts: map[*echo.Echo]front{}, logger: d.Logger, now: d.Now, requestTimeout: d.RequestTimeout, proofInterval: d.ProofInterval, publicURL: d.PublicURL, port: d.Port, callers: d.Callers, quota: d.Quota, dropTokens: d.DropTokens, proxies: d.Proxies}
	g.attempts = attempts.New(d.Proxies, d.Now)
	g.followers = live.New(service.ActingItself(s.Closing()), live.Options{Conversations: d.Backend, See: see, Blobs: d.Blobs, Feed: d.Feed, Pace: d.Pace, Logger: d.Logger})
	g.health = &health{service: s, feed: d.Feed, version: d.Version, logger: d.Logger, prove: g.prove, open: len(d.Callers) == 0}
	events := endpoint.New(endpoint.Options{Service: s, Followers: g.followers, Agent: d.Agent, Version: d.Version, Logger: d.Logger})
	server := &serverlogin.Endpoint{
		Service: s, Logins: d.Logins, SignIn: canSignIn(d.Methods), Logger: d.Logger, Jar: &session.Jar{Keyring: d.Keyring, PublicURL: d.PublicURL, Proxies: d.Proxies, Now: d.Now},
	}
	g.tasks = protocol.New(handler.New(handler.Options{
		Service: s, Followers: g.followers, Agent: d.Agent, Version: d.Version, Provider: d.Provider.ofCard(), Proven: len(d.Callers) > 0, Schemes: d.Callers.Schemes(), Logger: d.Logger, Now: d.Now,
	}), protocol.Options{Logger: d.Logger, Closing: s.Closing()})
	talks := &talk.Talk{
		Exchanges: &exchange.Exchanges{Service: s, Followers: g.followers}, Finder: history.NewFinder(s, d.Now), Models: offers.Models{Agent: d.Agent, Since: d.Now()},
		Desk: openai.Desk{Codes: passcode.New(d.prover(), d.Now), Via: openai.Via}, Now: d.Now,
	}
	g.mcp = mcpserver.New(mcpserver.Options{Exchanges: talks.Exchanges, Models: talks.Models, Codes: talks.Desk.Codes, Version: d.Version, Logger: d.Logger, Issuers: identity.Issuers(d.Methods)})
	if d.Slack != nil {
		g.slack = slackchat.New(slackchat.Options{Settings: *d.Slack, Service: s, Followers: g.followers, Proven: len(d.Callers) > 0, Sessions: d.Sessions, Keyring: d.Keyring, Take: d.Quota.Take, Logger: d.Logger, Now: d.Now})
	}
	g.table = tableOf(handlers{
		home:   home.New(d.Agent, d.Version, d.WebUI, d.Namespace),
		rest:   &rest{service: s, search: &search.Searcher{List: s.List, Exports: d.Exports}, events: events, chats: command.New(s), server: server, logger: d.Logger},
		server: server,
		desk:   &desk.Endpoint{Service: s, Grants: d.Grants, Caller: callerOf},
		events: events,
		offers: &offers.Endpoint{Service: s, Agent: d.Agent},
		health: g.health,
		login:  &login.Endpoint{Sessions: d.Sessions, Methods: d.Methods, Attempts: g.attempts, Logger: d.Logger},
		tasks:  g.tasks,
		slack:  g.slack,
		signer: d.Witness,
		codec:  &codec.Endpoint{Codec: d.Codec, Namespace: d.Namespace},

		models:    openai.Models{Of: talks.Models},
		mcp:       g.mcp,
		chat:      &chat.Endpoint{Talk: talks, Status: openAIError, Logger: d.Logger},
		responses: &responses.Endpoint{Talk: talks, Status: openAIError, Logger: d.Logger, Socket: responses.Socket{Listed: guard.Rules{Origins: d.AllowedOrigins}.Listed, Take: d.Quota.Take, Timeout: d.RequestTimeout, Lifetime: d.SocketLifetime}},

		control: &control.Endpoint{Service: s, Agent: d.Agent.Name, Rates: d.Rates},
	})
	local := ollamaTable(&ollama.Endpoint{Talk: talks.For(ollama.Channel), Text: func(err error, r *http.Request) string { _, b := render(err, r); return b.Error }, Logger: d.Logger}, g.table)
	g.main, g.ollama = g.open(d, g.table, "", openRoutes...), g.open(d, local, "")
	g.openAgentAPI(d, s)
	return g
}

// prover returns what makes codes hold at every gateway, nil without keys.
func (d Deps) prover() passcode.Prover {
	if d.Keyring == nil {
		return nil
	}
	return d.Keyring
}

// canSignIn reports whether people can log in to the agent at a provider, which gives them tokens.
func canSignIn(methods []identity.Method) bool {
	return slices.ContainsFunc(methods, func(m identity.Method) bool { return m.Login && m.Issuer != "" })
}

// ServeHTTP implements http.Handler.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.main.handler.ServeHTTP(w, request.Tidy(r))
}

// Slack returns the front end in Slack, which must be started, or nil.
func (g *Gateway) Slack() *slackchat.Chat { return g.slack }

// Routes lists the operations of the API, without the files of the pages.
func (g *Gateway) Routes() []Route {
	var out []Route
	for _, r := range g.table {
		if r.Path != "/docs/*" && r.Path != "/page/*" {
			out = append(out, r.Route)
		}
	}
	return out
}

// Problems returns what keeps a conversation from running now, like GET /health/ready. It may
// wait some seconds for tool servers that are connecting.
func (g *Gateway) Problems(ctx context.Context) []string { return g.health.problems(ctx) }

// Close answers all waiting requests with a 202, ends all streams, and returns when no update
// of a workflow is in flight. Requests are still served, without waiting. Call it before
// http.Server.Shutdown.
func (g *Gateway) Close() {
	g.slack.Close()
	g.service.Close()
	g.followers.Close()
	g.mcp.Close()
	g.callers.Close()
}

// Limits of the HTTP server. There is no write timeout: a client may wait for RequestTimeout,
// and every handler has its own deadline.
const (
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 30 * time.Second
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 64 << 10
)

// NewServer returns a server with limits that keep slow and oversized requests from blocking
// it. The caller sets the address.
func NewServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
	}
}
