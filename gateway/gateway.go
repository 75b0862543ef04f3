package gateway

import (
	"context"
	"io/fs"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"
	"go.temporal.io/sdk/client"
	"golang.org/x/sync/singleflight"

	"agent-stop-and-go/gateway/live"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/tasks"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/credential"
	"agent-stop-and-go/workflows/record/transcript"
)

// DefaultRequestTimeout is how long a request waits for its answer before it
// gets a 202.
const DefaultRequestTimeout = 60 * time.Second

// Deps is what a gateway needs.
type Deps struct {
	// Client, TaskQueue and Namespace say where conversations run. They are not
	// used when Backend is set.
	Client    client.Client
	TaskQueue string
	Namespace string
	// Address is that of the Temporal server, as people shall name it in commands.
	Address string
	// Backend replaces the one on Temporal, in tests.
	Backend service.Backend
	// Agent is what new conversations run by.
	Agent contract.Agent
	Blobs transcript.Store
	// Exports has the files that workers export conversations to. They are shown while no
	// worker answers; nil is none.
	Exports fs.FS
	// Room fails as a write does when the disk of the Temporal server is full. It is nil
	// where the server is another process, whose disk is not known.
	Room func(context.Context) error
	// IsDead reports whether a worker is known to have ended, by its identity at the
	// Temporal server, which does not notice at once. Nil knows of none.
	IsDead func(identity string) bool
	// Keyring seals bearer tokens. Without one they are dropped, and webhooks can have
	// no secrets.
	Keyring *credential.Keyring
	// PushReach is where webhooks may be.
	PushReach contract.Reach
	// Logger is slog.Default when nil.
	Logger *slog.Logger
	// RequestTimeout is DefaultRequestTimeout when zero.
	RequestTimeout time.Duration
	// Feed is nil where nobody tells what is new; then those who follow a
	// conversation see what lasts of it.
	Feed live.Feed
	Pace live.Pace
	// Now is time.Now when nil.
	Now     func() time.Time
	Version string
	// PublicURL is where others reach the gateway, without a slash at the end. Without
	// one it is what a request was sent to.
	PublicURL string
	// AllowedHosts are names of the gateway besides those of loopback. Requests for
	// others are refused.
	AllowedHosts []string
	// AllowedOrigins are pages of others that may call, such as https://chat.example.com.
	AllowedOrigins []string
	// WebUI is where the Temporal Web UI is, if anywhere.
	WebUI string
	// Provider is who answers for the agent, for its card.
	Provider Provider
}

// Provider is an organization and its web site.
type Provider struct{ Organization, URL string }

func (d Deps) withDefaults() Deps {
	if d.Logger == nil {
		d.Logger = slog.Default()
	}
	if d.RequestTimeout <= 0 {
		d.RequestTimeout = DefaultRequestTimeout
	}
	d.Pace = d.Pace.WithDefaults()
	if d.Now == nil {
		d.Now = time.Now
	}
	if d.IsDead == nil {
		d.IsDead = func(string) bool { return false }
	}
	if d.TaskQueue == "" {
		d.TaskQueue = contract.DefaultTaskQueue
	}
	if d.Backend == nil {
		d.Backend = service.OnTemporal(service.Options{
			Client: d.Client, TaskQueue: d.TaskQueue, Namespace: d.Namespace, Address: d.Address, Agent: d.Agent, Blobs: d.Blobs,
			Keyring: d.Keyring, PushReach: d.PushReach, Now: d.Now, IsDead: d.IsDead,
		})
	}
	return d
}

// Gateway is the API as an http.Handler. It is safe for concurrent use.
type Gateway struct {
	Deps
	echo        *echo.Echo
	base        context.Context
	stop        context.CancelFunc
	tasks       *tasks.Server
	waits       *waits
	idle        idleConversations
	sendLocks   keyedLock
	followers   *live.Followers
	glances     singleflight.Group
	recent      *recentTasks
	summary     *cache[service.Summary]
	store       verdict
	room        *cache[bool] // nil where nobody can tell
	lastProblem atomic.Value // that was logged
	catalogue   *cache[contract.Catalogue]
	resources   *cache[contract.ResourceCatalogue]
	prompts     *cache[contract.PromptCatalogue]
}

// New makes a gateway. Close it to release those who wait.
func New(deps Deps) *Gateway {
	g := &Gateway{Deps: deps.withDefaults()}
	if g.Room != nil {
		g.room = &cache[bool]{load: g.hasRoom, fresh: roomFresh, now: g.Now}
	}
	g.check()
	g.base, g.stop = context.WithCancel(context.Background())
	g.waits = newWaits(g.base, g.await, g.RequestTimeout)
	g.followers = live.New(g.base, live.Options{Conversations: g.Backend, Blobs: g.Blobs, Feed: g.Feed, Pace: g.Pace, Logger: g.Logger})
	g.recent = &recentTasks{now: g.Now}
	g.summary = &cache[service.Summary]{load: g.Backend.Summary, fresh: time.Second, now: g.Now}
	g.catalogue = ofNow(g.loadCatalogue, g.Now)
	g.resources = fromWorker(g.Backend.Resources, g.Now)
	g.prompts = fromWorker(g.Backend.Prompts, g.Now)
	g.tasks = tasks.New(a2aServer{g}, tasks.Options{Logger: g.Logger, Closing: g.base})
	g.echo = g.routes()
	return g
}

// ServeHTTP implements http.Handler.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) { g.echo.ServeHTTP(w, tidy(r)) }

// Close answers everybody who waits with a 202, ends all streams, and returns when
// nothing waits for a workflow any more. Requests are still served, without waiting; call it before
// http.Server.Shutdown.
func (g *Gateway) Close() {
	g.stop()
	g.waits.close()
	g.followers.Close()
}

// Limits of the HTTP server. There is no write timeout: a client may wait for
// RequestTimeout, and every handler has its own deadline.
const (
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 30 * time.Second
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 64 << 10
)

// NewServer returns a server with limits that keep slow and oversized requests
// from holding it up. The caller sets the address.
func NewServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
	}
}
