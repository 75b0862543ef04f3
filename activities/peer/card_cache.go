package peer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"agent-stop-and-go/activities/mask"
	"agent-stop-and-go/activities/outbound"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/network"
	"agent-stop-and-go/workflows/telemetry"
)

// A card is fetched again when it is older than cardMaxAge; after a failure, or if there was
// none, after cardRetry.
const (
	cardMaxAge = 10 * time.Minute
	cardRetry  = 30 * time.Second
)

// agent is a configured agent with its card and its HTTP clients.
type agent struct {
	Agent
	opts *Options
	run  func(func(context.Context)) bool // in the background
	// client reuses connections; fresh and strict use a new one for every request, and strict
	// follows no redirects.
	client, fresh, strict *http.Client
	distrust              sync.Once

	mu        sync.Mutex
	card      *cardCache
	fetchErr  error         // error of the last fetch
	fetchedAt time.Time     // when the last fetch ended
	fetching  chan struct{} // closed when the running fetch ends
}

// cardCache has the used fields of an agent's card. The name is empty if the agent has no card.
type cardCache struct {
	name      string
	endpoints []endpoint // empty if it has no JSON-RPC interface
	skills    []skill
	at        time.Time
}

func (p *Peers) newAgent(a Agent) *agent {
	guard := outbound.Options{
		Trusted: []string{a.URL}, Reach: a.reach(), Redirects: 5, Keep: []string{a2a.SvcParamVersion, a2a.SvcParamExtensions},
		Base: p.opts.Transport,
	}
	out := &agent{Agent: a, opts: &p.opts, run: p.background, client: traced(outbound.Client(guard))}
	guard.Fresh = true
	out.fresh = traced(outbound.Client(guard))
	guard.Redirects = 0
	out.strict = traced(outbound.Client(guard))
	return out
}

// traced has the client say in which trace it calls.
func traced(c *http.Client) *http.Client {
	c.Transport = telemetry.Transport{Base: c.Transport}
	return c
}

// awaitCard returns the card, and waits for it if there is none yet. An old or a missing one is
// fetched again in the background.
func (a *agent) awaitCard(ctx context.Context, bearer string) (*cardCache, error) {
	a.mu.Lock()
	k := a.card
	if k != nil && (k.name != "" || !a.mayFetch()) {
		a.refresh(k)
		a.mu.Unlock()
		return k, nil
	}
	done := a.fetchCard(bearer)
	a.mu.Unlock()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-done:
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.card == nil {
		return nil, a.fetchErr
	}
	return a.card, nil
}

// mayFetch reports whether it is time for another fetch. a.mu is held.
func (a *agent) mayFetch() bool { return a.opts.Now().Sub(a.fetchedAt) >= cardRetry }

// refresh starts a fetch if the card is missing or old. a.mu is held.
func (a *agent) refresh(k *cardCache) {
	if old := k == nil || k.name == "" || a.opts.Now().Sub(k.at) >= cardMaxAge; old && a.mayFetch() {
		a.fetchCard("")
	}
}

// fetchCard fetches the card in the background, once at a time. a.mu is held.
func (a *agent) fetchCard(bearer string) (done <-chan struct{}) {
	if a.fetching != nil {
		return a.fetching
	}
	flight := make(chan struct{})
	a.fetching = flight
	started := a.run(func(ctx context.Context) {
		k, err := a.discover(ctx, bearer)
		a.storeCard(k, err)
		close(flight)
	})
	if !started {
		a.fetchErr, a.fetching = errClosed, nil
		close(flight)
	}
	return flight
}

// storeCard stores the result of a fetch. A missing card does not replace one.
func (a *agent) storeCard(k *cardCache, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fetching, a.fetchErr, a.fetchedAt = nil, err, a.opts.Now()
	if err == nil && (k.name != "" || a.card == nil) {
		k.at = a.fetchedAt
		a.card = k
	}
}

// preferEndpoint moves a working endpoint to the front.
func (a *agent) preferEndpoint(w endpoint) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.card != nil {
		k := *a.card
		k.endpoints = []endpoint{w}
		a.card = &k
	}
}

const (
	maxSkills    = 10
	maxSkillText = 1500
)

// Describe implements Peer of package activities.
func (p *Peers) Describe(peer contract.Peer) string {
	a := p.agent(peer)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refresh(a.card)
	if a.card == nil || len(a.card.skills) == 0 {
		return peer.Description
	}
	return strings.TrimSpace(peer.Description + "\n" + describeSkills(a.card.skills))
}

// describeSkills lists skills in one line.
func describeSkills(skills []skill) string {
	var out []string
	for _, s := range skills[:min(len(skills), maxSkills)] {
		name, about := line(s.Name), line(s.Description)
		switch {
		case name == "":
		case about == "":
			out = append(out, name)
		default:
			out = append(out, fmt.Sprintf("%s — %s", name, about))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return clip("Skills: "+strings.Join(out, "; "), maxSkillText)
}

// line returns a text in one line.
func line(s string) string { return strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ") }

// result converts a task or an error to the result of Send. A permanent failure stays one if
// ctx has ended, because a cancellation would have the message sent again.
func (a *agent) result(ctx context.Context, m *mask.Mask, t *task, err error) (Reply, error) {
	if err == nil {
		if err := t.check(); err != nil {
			return a.failure(m, err) // the answer is complete: nothing was interrupted
		}
		out := a.reply(t)
		maskFiles(m, out.Files)
		return out, nil
	}
	if errors.Is(ctx.Err(), context.Canceled) && isInterrupted(err) {
		return Reply{}, ctx.Err()
	}
	return a.failure(m, err)
}

// reach returns the addresses that redirects may lead to.
func (a Agent) reach() network.Reach {
	if a.AllowPrivate {
		return network.ReachPrivate
	}
	return network.ReachPublic
}
