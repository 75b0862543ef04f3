package toolbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"agent-stop-and-go/activities/bearer"
	"agent-stop-and-go/workflows/contract"
)

// Options of a toolbox. Zero values mean the defaults.
type Options struct {
	Servers []Server
	Logger  *slog.Logger
	// CallTimeout limits a call with everything it needs, 30 s by default.
	CallTimeout time.Duration
	// ConnectTimeout limits an attempt to connect, 10 s by default.
	ConnectTimeout time.Duration
	// FirstWait limits how long Tools waits for servers in their first attempt to connect, and
	// Resources and Prompts for any server, 5 s by default.
	FirstWait time.Duration
	// QuestionTime limits how long the questions of one call may wait for people in total, 24 h
	// by default. The call's own time is stopped meanwhile.
	QuestionTime time.Duration
	// Sampler answers sampling requests, Elicitor questions. A nil one is not declared to
	// servers.
	Sampler  Sampler
	Elicitor Elicitor
}

func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	orDefault(&o.CallTimeout, 30*time.Second)
	orDefault(&o.ConnectTimeout, 10*time.Second)
	orDefault(&o.FirstWait, 5*time.Second)
	orDefault(&o.QuestionTime, contract.MaxQuestionTime)
	return o
}

func orDefault(d *time.Duration, value time.Duration) {
	if *d <= 0 {
		*d = value
	}
}

// Toolbox holds the connections to all servers. It is safe for concurrent use.
type Toolbox struct {
	opts    Options
	links   []*link
	own     []Tool // our own tools
	schemas schemas
	begin   sync.Once

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu     sync.Mutex
	closed bool
	conns  map[*conn]struct{}
	warned map[string]bool // conflicts
}

var errClosed = errors.New("the toolbox is closed")

// New makes a toolbox. Nothing is connected before Start, Tools or Call.
func New(o Options) *Toolbox {
	t := &Toolbox{opts: o.withDefaults(), conns: map[*conn]struct{}{}, warned: map[string]bool{}}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	t.schemas.logger = t.opts.Logger
	for _, s := range t.opts.Servers {
		t.links = append(t.links, newLink(t, s))
	}
	t.own = ownTools(t.opts.Servers)
	return t
}

// Start starts to connect to every server, independently and with back-off, and returns at
// once. After ctx ends, lost connections are no longer restored in the background, but calls
// still work, so that running work can finish before Close.
func (t *Toolbox) Start(ctx context.Context) {
	t.begin.Do(func() {
		for _, l := range t.links {
			t.spawn(func() { l.run(ctx) })
		}
	})
}

// Tools returns the offered tools: servers in declared order, tools by name, then our own. It
// waits, for FirstWait at most, for servers in their first attempt to connect, never for dead
// or optional ones; and as long again for servers that list tools only with the token of
// bearer.NewContext. A tool whose name an earlier server has is omitted; States reports it.
func (t *Toolbox) Tools(ctx context.Context) []Tool {
	t.Start(t.ctx)
	wait, stop := context.WithTimeout(ctx, t.opts.FirstWait)
	defer stop()
	for _, l := range t.links {
		if l.server.Optional {
			continue
		}
		select {
		case <-l.first:
		case <-wait.Done():
		}
	}
	var out []Tool
	tokens := bearer.FromContext(ctx)
	t.askFor(ctx, tokens)
	for _, o := range t.offers(tokens) {
		out = append(out, o.tools...)
	}
	return append(out, t.ownFor(tokens)...)
}

// States reports for every server, in declared order, whether it answers, and if not, why. It
// does not wait.
func (t *Toolbox) States() []contract.ServerState {
	states := make([]contract.ServerState, 0, len(t.links))
	for _, o := range t.offers(nil) {
		ready, problem := o.link.state()
		if problem == "" {
			problem = o.conflict
		}
		states = append(states, contract.ServerState{
			Name: o.link.server.Name, Ready: ready, Error: problem, Tools: len(o.tools), Optional: o.link.server.Optional,
		})
	}
	return states
}

// offer is the tools of one server.
type offer struct {
	link     *link
	tools    []Tool
	conflict string
	clashes  []nameConflict
}

func (t *Toolbox) offers(tokens *bearer.Tokens) []offer {
	owner := map[string]string{}
	out := make([]offer, 0, len(t.links))
	for _, l := range t.links {
		list := l.listingFor(tokens.Last(l.server.Name))
		o := offer{link: l}
		if len(list.doubles) > 0 {
			o.conflict = fmt.Sprintf("duplicate tool name %q inside MCP server %q", list.doubles[0], l.server.Name)
		}
		for _, tool := range list.tools {
			if c, clashes := t.nameConflict(tool, owner); clashes {
				o.conflict, o.clashes = cmp.Or(o.conflict, c.String()), append(o.clashes, c)
				continue
			}
			owner[tool.Name] = l.server.Name
			o.tools = append(o.tools, tool)
		}
		out = append(out, o)
	}
	return out
}

func (t *Toolbox) find(name string, tokens *bearer.Tokens) (Tool, bool) {
	for _, o := range t.offers(tokens) {
		for _, tool := range o.tools {
			if tool.Name == name {
				return tool, true
			}
		}
	}
	for _, tool := range t.ownFor(tokens) {
		if tool.Name == name {
			return tool, true
		}
	}
	return Tool{}, false
}

func (t *Toolbox) link(name string) *link {
	for _, l := range t.links {
		if l.server.Name == name {
			return l
		}
	}
	return nil
}

// spawn runs f in a goroutine that Close waits for. It returns false after Close.
func (t *Toolbox) spawn(f func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	t.wg.Go(f)
	return true
}

const closeLimit = 15 * time.Second

// Close ends every connection and every child process, and running calls. It waits for them,
// for 15 s at most. A second Close does nothing.
func (t *Toolbox) Close() error {
	t.mu.Lock()
	t.closed = true
	conns := t.conns
	t.conns = map[*conn]struct{}{}
	t.mu.Unlock()
	t.cancel()
	for c := range conns {
		t.wg.Add(1)
		go func() {
			defer t.wg.Done()
			c.retire(errClosed)
			c.close()
		}()
	}
	done := make(chan struct{})
	go func() { t.wg.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-time.After(closeLimit):
		return fmt.Errorf("close the toolbox: not done after %s", closeLimit)
	}
}

// adopt registers a connection, so that Close ends it.
func (t *Toolbox) adopt(c *conn) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.conns[c] = struct{}{}
	}
	return !t.closed
}

func (t *Toolbox) forget(c *conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.conns, c)
}
