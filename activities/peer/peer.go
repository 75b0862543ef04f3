package peer

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/redact"
)

// Protocol is a version of the protocol.
type Protocol string

// The protocols. Negotiate, the zero value, uses the agent's card.
const (
	Negotiate Protocol = ""
	V1        Protocol = "1.0"
	V03       Protocol = "0.3"
	Old       Protocol = "old"
)

// Agent is a configured agent.
type Agent struct {
	Name string
	// URL is the endpoint, or a base below which its card is.
	URL string
	// Headers are sent with every request to URL. An Authorization replaces the caller's.
	Headers map[string]string
	// Secrets are values of headers that must not be shown, whatever the headers are
	// called.
	Secrets []string
	// AllowPrivate allows redirects to private addresses.
	AllowPrivate bool
	Protocol     Protocol
	// Problem is what is wrong with the settings; the agent is not called then.
	Problem string
}

// Options have defaults for their zero values.
type Options struct {
	Agents []Agent
	Logger *slog.Logger
	// Wait bounds how long Send waits for a task, 50s if zero.
	Wait time.Duration
	// OldWait is Wait for the old dialect, in which an agent answers when it is done: 9m if
	// zero.
	OldWait time.Duration
	// Transport is cloned for every agent; http.DefaultTransport if nil.
	Transport *http.Transport
	// Now is the clock for the age of cards.
	Now func() time.Time
	// Pause waits between two polls of a task, until ctx ends at the latest.
	Pause func(ctx context.Context, d time.Duration)
}

// Peers are the other agents. Make them with New.
type Peers struct {
	opts   Options
	life   context.Context // ends background work
	end    context.CancelFunc
	mu     sync.Mutex
	agents map[identity]*agent
	closed bool
	wg     sync.WaitGroup
}

// identity identifies an agent by name and URL: a conversation may be older than the
// configuration, whose agent of that name may be elsewhere.
type identity struct{ name, url string }

// New opens no connection.
func New(o Options) *Peers {
	o.Logger = cmp.Or(o.Logger, slog.Default())
	o.Wait = cmp.Or(o.Wait, 50*time.Second)
	o.OldWait = cmp.Or(o.OldWait, 9*time.Minute)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Pause == nil {
		o.Pause = pause
	}
	p := &Peers{opts: o, agents: map[identity]*agent{}}
	p.life, p.end = context.WithCancel(context.Background())
	for _, a := range o.Agents {
		known := p.newAgent(a)
		// Histories older than KeptURL have the whole URL.
		p.agents[identity{a.Name, a.URL}], p.agents[identity{a.Name, redact.KeptURL(a.URL)}] = known, known
	}
	return p
}

// Close ends background work and idle connections. It does not end a running Send.
func (p *Peers) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.end()
	p.wg.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.agents {
		a.client.CloseIdleConnections()
	}
	return nil
}

// background runs f, unless Close was called.
func (p *Peers) background(f func(context.Context)) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.wg.Go(func() { f(p.life) })
	}
	return !p.closed
}

// agent finds the agent of a message. One that is not configured with this URL gets no headers,
// and is not called at all if the URL had a secret.
func (p *Peers) agent(peer contract.Peer) *agent {
	p.mu.Lock()
	defer p.mu.Unlock()
	id := identity{peer.Name, peer.URL}
	if p.agents[id] == nil {
		unknown := Agent{Name: peer.Name, URL: peer.URL}
		if !redact.Whole(peer.URL) {
			unknown.Problem = "it is not configured any more at " + peer.URL + ", which the conversation began with"
		}
		p.agents[id] = p.newAgent(unknown)
	}
	return p.agents[id]
}

// Send implements Peer of package activities. Its errors are context.Canceled, after which the
// message may be sent again, or an *Error. If it is cancelled while a task is working, it
// returns the working task.
func (p *Peers) Send(ctx context.Context, m Message) (Reply, error) {
	a := p.agent(m.Peer)
	hidden := a.mask(m.Bearer)
	if a.Problem != "" { // another worker may have the missing setting
		return a.result(ctx, hidden, nil, &wireError{err: errors.New(a.Problem)})
	}
	k, err := a.awaitCard(ctx, m.Bearer)
	if err == nil && len(k.endpoints) == 0 {
		err = errNoEndpoint
	}
	if err != nil {
		return a.result(ctx, hidden, nil, err)
	}
	t, err := a.try(ctx, k.endpoints, m)
	if err == nil && m.Destructive {
		if problem := t.check(); problem != nil {
			err = &uncertainError{err: problem, destructive: true}
		}
	}
	return a.result(ctx, hidden, t, err)
}

// try calls the endpoints until the agent understands one: all but the first are guesses, and a
// message that was not understood had no effect. The endpoint that works is used from then on.
func (a *agent) try(ctx context.Context, ways []endpoint, m Message) (*task, error) {
	var first error
	for i, w := range ways {
		x := &session{agent: a, endpoint: w, msg: m, mask: a.mask(m.Bearer)}
		t, err := x.send(ctx)
		if len(ways) == 1 || x.understood || !isProtocolError(err) {
			if i > 0 && err == nil {
				a.preferEndpoint(w)
			}
			return t, err
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

func (x *session) send(ctx context.Context) (*task, error) {
	if x.endpoint.protocol == Old {
		return x.sendOld(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, x.agent.opts.Wait)
	defer cancel()
	return x.sendCurrent(ctx)
}

// pause is the default of Options.Pause.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
