package toolbox

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"

	"agent-stop-and-go/workflows/contract"
)

// The pause before the next attempt to connect: doubled from first to last, each randomly
// shortened by up to half.
const (
	backoffFirst = 250 * time.Millisecond
	backoffLast  = 15 * time.Second
	// stableAfter is how long a connection must have lived for the next pause to be the first.
	stableAfter = 10 * time.Second
	// relistEvery is how often the tools are listed again without a notification.
	relistEvery = time.Second
)

// link is one server, over all its connections.
type link struct {
	box    *Toolbox
	server Server
	first  chan struct{} // closed after the first attempt
	// tokenLists are the tools listed with callers' tokens
	tokenLists tokenLists

	mu      sync.Mutex
	conn    *conn
	attempt *attempt
	list    listing // as last listed; kept while the server is down
	err     error   // why it is not connected
	logged  string
	warned  map[string]bool // keys are the kind of warning and the tool's name
}

// attempt is an attempt to connect that any number of callers wait for.
type attempt struct {
	done chan struct{}
	conn *conn
	err  error
}

var errConnecting = errors.New("connecting")

func newLink(t *Toolbox, s Server) *link {
	return &link{box: t, server: s, first: make(chan struct{}), err: errConnecting}
}

// run keeps the server connected until ctx or the box ends.
func (l *link) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.box.ctx, cancel)()
	for failures := 0; ctx.Err() == nil; failures++ {
		if c, err := l.connect(ctx); err == nil {
			since := time.Now()
			l.watchConnection(ctx, c)
			if time.Since(since) > stableAfter {
				failures = 0
			}
		}
		pause(ctx, backoff(failures))
	}
}

func backoff(failures int) time.Duration {
	d := min(backoffFirst<<min(failures, 10), backoffLast)
	return d - rand.N(d/2)
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// watchConnection lists the tools again when they change, until the connection is lost.
func (l *link) watchConnection(ctx context.Context, c *conn) {
	for {
		select {
		case <-c.changed:
			l.relist(ctx, c)
			if !c.staysOpen(ctx, relistEvery) {
				return
			}
		case <-c.done:
			return
		case <-ctx.Done():
			return
		}
	}
}

// staysOpen waits, and reports whether the connection still exists.
func (c *conn) staysOpen(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-c.done:
	case <-ctx.Done():
	}
	return false
}

func (l *link) relist(ctx context.Context, c *conn) {
	ctx, cancel := context.WithTimeout(ctx, l.box.opts.ConnectTimeout)
	defer cancel()
	list, err := c.list(ctx)
	if err != nil {
		c.retire(err)
		return
	}
	c.storeList(list)
	if l.storeList(list) {
		l.box.warnConflicts()
	}
}

// storeList stores the server's list, and reports whether it has changed.
func (l *link) storeList(list listing) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if reflect.DeepEqual(l.list, list) {
		return false
	}
	l.list = list
	l.box.opts.Logger.Info("MCP server changed its tools", "server", l.server.Name, "tools", len(list.tools))
	l.warn(list)
	return true
}

// current returns the connection, if it can be held.
func (l *link) current() (*conn, bool) {
	l.mu.Lock()
	c := l.conn
	l.mu.Unlock()
	return c, c != nil && c.hold()
}

// connect returns the connection, or the failure of the attempt to make one. The attempt is
// shared and outlives the ctx of its callers.
func (l *link) connect(ctx context.Context) (*conn, error) {
	l.mu.Lock()
	if l.conn != nil {
		defer l.mu.Unlock()
		return l.conn, nil
	}
	a := l.attempt
	if a == nil {
		a = &attempt{done: make(chan struct{})}
		if !l.box.spawn(func() { l.try(a) }) {
			l.mu.Unlock()
			return nil, errClosed
		}
		l.attempt = a
	}
	l.mu.Unlock()
	select {
	case <-a.done:
		return a.conn, a.err
	case <-ctx.Done():
		return nil, fmt.Errorf("connecting: %w", context.Cause(ctx))
	}
}

func (l *link) try(a *attempt) {
	ctx, cancel := context.WithTimeout(l.box.ctx, l.box.opts.ConnectTimeout)
	defer cancel()
	c, list, err := dial(ctx, l.box, l.server, caller{})
	l.settle(a, c, list, err)
	if err != nil {
		return
	}
	l.box.warnConflicts()
	l.box.spawn(func() {
		<-c.done
		l.handleLost(c)
	})
}

func (l *link) settle(a *attempt, c *conn, list listing, err error) {
	l.mu.Lock()
	a.conn, a.err = c, err
	l.attempt, l.conn, l.err = nil, c, err
	if err == nil {
		l.list = list
	}
	l.report()
	select {
	case <-l.first:
	default:
		close(l.first)
	}
	l.mu.Unlock()
	close(a.done)
}

// handleLost records that a connection was lost.
func (l *link) handleLost(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn == c {
		l.conn, l.err = nil, c.reason()
		l.report()
	}
}

// report logs a change of state, once. The mutex is held.
func (l *link) report() {
	now := "connected"
	switch {
	case errors.Is(l.err, transport.ErrAuthorizationRequired):
		now = "authentication"
	case l.err != nil:
		now = "down"
	}
	if now == l.logged || l.box.ctx.Err() != nil {
		return
	}
	l.logged = now
	log := l.box.opts.Logger.With("server", l.server.Name)
	if l.err != nil {
		log.Warn("MCP server is not available, trying again", "error", plain(l.err), "optional", l.server.Optional)
		return
	}
	log.Info("MCP server connected", "tools", len(l.list.tools))
	l.warn(l.list)
}

// warn logs, once for each, tools without annotations that run without asking, and probable
// mistakes in the settings. The mutex is held.
func (l *link) warn(list listing) {
	var silent []string
	for _, tool := range list.tools {
		if a := tool.Approval; !a.Asks && a.Because == contract.GroundNoHint {
			silent = append(silent, tool.Name)
		}
	}
	l.warnOf("tools without hints run without approval, because the server has \"unannotated: run\"", silent)
	l.warnOf("several tools of the server have one name; one is on offer, a destructive one if there is any", list.doubles)
	l.warnOf("tools that tell facts are declared wrongly, so their facts are not known", list.noSources)
	l.warnOf("the settings of the server name tools that it does not have", list.unknownNames)
}

func (l *link) warnOf(what string, names []string) {
	var news []string
	for _, name := range names {
		if key := what + name; !l.warned[key] && len(l.warned) < maxItems {
			if l.warned == nil {
				l.warned = map[string]bool{}
			}
			l.warned[key] = true
			news = append(news, name)
		}
	}
	if len(news) > 0 {
		l.box.opts.Logger.Warn(what, "server", l.server.Name, "tools", news)
	}
}

func (l *link) state() (ready bool, problem string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn != nil && l.conn.reason() == nil {
		return true, ""
	}
	err := l.err
	if l.conn != nil {
		err = l.conn.reason()
	}
	return false, plain(err)
}
