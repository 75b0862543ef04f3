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

	"agent-stop-and-go/activities"
	"agent-stop-and-go/activities/mask"
	"agent-stop-and-go/activities/outbound"
	"agent-stop-and-go/workflows/contract"
)

// A card is asked for again when it is older than fresh; after a failure, and when
// there was none, not before again.
const (
	fresh = 10 * time.Minute
	again = 30 * time.Second
)

// agent is an agent and what is known of it.
type agent struct {
	Agent
	opts *Options
	run  func(func(context.Context)) bool // in the background
	// client keeps connections; fresh has a new one for every request, and so has strict,
	// which follows no redirects.
	client, fresh, strict *http.Client
	distrust              sync.Once

	mu     sync.Mutex
	known  *known
	failed error         // the last look
	tried  time.Time     // when that ended
	flight chan struct{} // a look that goes on
}

// known is what is known of an agent by its card. Without a name it had none.
type known struct {
	name   string
	ways   []way // none: it does not speak JSON-RPC
	skills []skill
	at     time.Time
}

func (p *Peers) newAgent(a Agent) *agent {
	guard := outbound.Options{
		Trusted: []string{a.URL}, Reach: a.reach(), Redirects: 5, Keep: []string{a2a.SvcParamVersion, a2a.SvcParamExtensions},
		Base: p.opts.Transport,
	}
	out := &agent{Agent: a, opts: &p.opts, run: p.background, client: outbound.Client(guard)}
	guard.Fresh = true
	out.fresh = outbound.Client(guard)
	guard.Redirects = 0
	out.strict = outbound.Client(guard)
	return out
}

// know waits for the card, unless it has one already. An old one is asked for
// again in the background, and so is one that was missing.
func (a *agent) know(ctx context.Context, bearer string) (*known, error) {
	a.mu.Lock()
	k := a.known
	if k != nil && (k.name != "" || !a.due()) {
		a.refresh(k)
		a.mu.Unlock()
		return k, nil
	}
	done := a.look(bearer)
	a.mu.Unlock()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-done:
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known == nil {
		return nil, a.failed
	}
	return a.known, nil
}

// due reports whether it is time for another look. a.mu is held.
func (a *agent) due() bool { return a.opts.Now().Sub(a.tried) >= again }

// refresh begins a look if what is known is missing or old. a.mu is held.
func (a *agent) refresh(k *known) {
	if old := k == nil || k.name == "" || a.opts.Now().Sub(k.at) >= fresh; old && a.due() {
		a.look("")
	}
}

// look asks for the card in the background, once at a time. a.mu is held.
func (a *agent) look(bearer string) (done <-chan struct{}) {
	if a.flight != nil {
		return a.flight
	}
	flight := make(chan struct{})
	a.flight = flight
	started := a.run(func(ctx context.Context) {
		k, err := a.discover(ctx, bearer)
		a.learn(k, err)
		close(flight)
	})
	if !started {
		a.failed, a.flight = errClosed, nil
		close(flight)
	}
	return flight
}

// learn keeps what a look has found. No card does not replace one.
func (a *agent) learn(k *known, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.flight, a.failed, a.tried = nil, err, a.opts.Now()
	if err == nil && (k.name != "" || a.known == nil) {
		k.at = a.tried
		a.known = k
	}
}

// prefer puts a way that works first.
func (a *agent) prefer(w way) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known != nil {
		k := *a.known
		k.ways = []way{w}
		a.known = &k
	}
}

const (
	maxSkills    = 10
	maxSkillText = 1500
)

// Describe implements activities.Peer.
func (p *Peers) Describe(peer contract.Peer) string {
	a := p.agent(peer)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refresh(a.known)
	if a.known == nil || len(a.known.skills) == 0 {
		return peer.Description
	}
	return strings.TrimSpace(peer.Description + "\n" + describeSkills(a.known.skills))
}

// describeSkills is a line.
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

// line is a text of others in one line.
func line(s string) string { return strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ") }

// conclude makes of a task, or of why there is none, what Send returns. A failure for
// good is one also when ctx has ended: whoever takes it for a cancellation sends the
// message again.
func (a *agent) conclude(ctx context.Context, m *mask.Mask, t *task, err error) (activities.PeerReply, error) {
	if err == nil {
		if err := t.check(); err != nil {
			return a.failure(m, err) // a whole answer: nothing was cut short
		}
		out := a.reply(t)
		maskFiles(m, out.Files)
		return out, nil
	}
	if errors.Is(ctx.Err(), context.Canceled) && cutShort(err) {
		return activities.PeerReply{}, ctx.Err()
	}
	return a.failure(m, err)
}

// reach is where redirects may lead.
func (a Agent) reach() contract.Reach {
	if a.AllowPrivate {
		return contract.ReachPrivate
	}
	return contract.ReachPublic
}
