package slackchat

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"

	"agent-stop-and-go/gateway/command"
	"agent-stop-and-go/gateway/identity/session"
	"agent-stop-and-go/gateway/live"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/credential"
)

// Via marks decisions that came from Slack; it is also the channel of its callers.
const Via = "slack"

// Settings are those of the configuration.
type Settings struct {
	AppToken, BotToken string
	// APIURL ends with a slash; "" is that of slack.com.
	APIURL string
	// LinkLasts is how long a user is known after a login.
	LinkLasts time.Duration
	// Lease is nil if this is the only gateway.
	Lease Lease
	// BaseURL is the URL of the page, without a slash at the end, for links.
	BaseURL string
	// Pace is the least time between two changes of one thread; 0 is a second.
	Pace time.Duration
	// StreamLife is how long a stream is used; 0 is four minutes, of the five that Slack gives it.
	StreamLife time.Duration
}

// Lease has one gateway at a time.
type Lease interface {
	// Hold calls f whenever the lease is held, with a context that ends with the lease, until ctx
	// ends.
	Hold(ctx context.Context, f func(context.Context))
}

// Options are the dependencies.
type Options struct {
	Settings
	Service   *service.Service
	Followers *live.Followers
	// Proven: callers must prove who they are. Sessions are their logins, nil if there is none.
	Proven   bool
	Sessions *session.Sessions
	Keyring  *credential.Keyring
	// Take counts a request of a caller, and fails if there are too many.
	Take   func(ctx context.Context, caller contract.Identity) error
	Logger *slog.Logger
	Now    func() time.Time
}

// Chat is the front end. It is safe for concurrent use.
type Chat struct {
	Options
	commands *command.Interpreter
	api      *slack.Client
	pace     *pace
	seen     *lru.Cache[string, struct{}] // messages that were taken
	open     open
	links    *links
	work     sync.WaitGroup // of the connection

	closing context.Context
	end     context.CancelFunc
	running sync.WaitGroup // Run

	// unstreamed and sessionless have the workspaces that take no streams, and those in which the app is
	// no agent.
	unstreamed, sessionless sync.Map

	mu        sync.Mutex
	team, bot string
	threads   map[place]*thread
}

// New makes the front end; Run connects it.
func New(o Options) *Chat {
	if o.Pace <= 0 {
		o.Pace = time.Second
	}
	if o.StreamLife <= 0 {
		o.StreamLife = streamLife
	}
	options := []slack.Option{slack.OptionAppLevelToken(o.AppToken)}
	if o.APIURL != "" {
		options = append(options, slack.OptionAPIURL(o.APIURL))
	}
	c := &Chat{
		Options: o, commands: command.New(o.Service), api: slack.New(o.BotToken, options...), pace: newPace(o.Pace), threads: map[place]*thread{},
		seen: remember[struct{}](maxSeen),
	}
	c.closing, c.end = context.WithCancel(context.Background())
	c.links = &links{chat: c, known: remember[linked](maxKnown)}
	return c
}

// remember returns a store of the latest entries. size is positive.
func remember[V any](size int) *lru.Cache[string, V] {
	store, err := lru.New[string, V](size)
	if err != nil {
		panic(err)
	}
	return store
}

const (
	// firstPause and lastPause are the times between two attempts to connect.
	firstPause = time.Second
	lastPause  = 5 * time.Minute
)

// Close ends Run, and returns when nothing of it works any more. A nil Chat is closed.
func (c *Chat) Close() {
	if c == nil {
		return
	}
	c.end()
	c.running.Wait()
}

// Start connects to Slack in the background, as long as this gateway has the lease, until ctx ends or
// the Chat is closed. A nil Chat has nothing to start.
func (c *Chat) Start(ctx context.Context) {
	if c == nil {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	context.AfterFunc(c.closing, cancel)
	c.running.Go(func() {
		defer cancel()
		c.run(ctx)
	})
}

func (c *Chat) run(ctx context.Context) {
	if c.Lease == nil {
		c.connect(ctx)
		return
	}
	c.Lease.Hold(ctx, c.connect)
}

// connect keeps a connection until ctx ends, and returns when nothing of it works any more.
func (c *Chat) connect(ctx context.Context) {
	for pause := firstPause; ctx.Err() == nil; pause = min(2*pause, lastPause) {
		began := c.Now()
		err := c.converse(ctx)
		if ctx.Err() != nil {
			return
		}
		c.Logger.Error("Slack cannot be reached; the gateway tries again", "error", err, "pause", pause)
		if c.Now().Sub(began) > lastPause {
			pause = firstPause
		}
		sleep(ctx, pause)
	}
}

// converse holds one connection, which mends itself, until an error that it cannot mend.
func (c *Chat) converse(ctx context.Context) error {
	if err := c.whoAmI(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer c.work.Wait()
	defer cancel()
	sm := socketmode.New(c.api)
	failed := make(chan error, 1)
	c.work.Go(func() { failed <- sm.RunContext(ctx) })
	c.work.Go(func() { c.resume(ctx) })
	for {
		select {
		case err := <-failed:
			if err == nil {
				err = errors.New("the connection has ended")
			}
			return err
		case e := <-sm.Events:
			c.work.Go(func() {
				err := service.Guard(func() error { c.handle(ctx, sm, e); return nil })
				if err != nil {
					c.Logger.Error("an event of Slack was not handled", "type", e.Type, "error", err)
				}
			})
		}
	}
}

// whoAmI asks for the workspace and the user of the bot.
func (c *Chat) whoAmI(ctx context.Context) error {
	who, err := c.api.AuthTestContext(ctx)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.team, c.bot = who.TeamID, who.UserID
	return nil
}

func (c *Chat) self() (team, bot string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.team, c.bot
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
