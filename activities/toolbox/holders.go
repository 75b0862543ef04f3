package toolbox

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"

	"agent-stop-and-go/workflows/contract"
)

// How long the tools that a server has shown to a caller are not asked for
// again, also when it did not show them, and for how many callers they are kept.
const (
	holderFresh = 5 * time.Minute
	holderRetry = 15 * time.Second
	maxHolders  = 256
)

type bearerKey struct{}

// WithBearer has Tools and Check know also the tools that servers show only to
// the holder of a token. Nobody else is offered them.
func WithBearer(ctx context.Context, bearer string) context.Context {
	return context.WithValue(ctx, bearerKey{}, bearer)
}

func bearerOf(ctx context.Context) string {
	bearer, _ := ctx.Value(bearerKey{}).(string)
	return bearer
}

// holders keep what a server has shown to the holders of tokens, by the digest
// of the token.
type holders struct {
	mu    sync.Mutex
	known map[string]held
}

type held struct {
	list listing
	due  time.Time // to be asked again
}

func holderKey(bearer string) string { return contract.Sum([]byte(bearer)) }

func (h *holders) of(bearer string) (held, bool) {
	if bearer == "" {
		return held{}, false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	known, ok := h.known[holderKey(bearer)]
	return known, ok
}

// learn keeps what a listing came to. What was known outlives a failure, unless
// the server no longer takes the token.
func (h *holders) learn(bearer string, list listing, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	key := holderKey(bearer)
	now := held{list: list, due: time.Now().Add(holderFresh)}
	if err != nil {
		now = held{due: time.Now().Add(holderRetry)}
		if !errors.Is(err, transport.ErrAuthorizationRequired) {
			now.list = h.known[key].list
		}
	}
	if h.known == nil {
		h.known = map[string]held{}
	}
	h.known[key] = now
	if len(h.known) > maxHolders {
		delete(h.known, h.oldest())
	}
}

func (h *holders) oldest() string {
	first := ""
	for key, one := range h.known {
		if first == "" || one.due.Before(h.known[first].due) {
			first = key
		}
	}
	return first
}

// askFor lists the tools of the servers that want a token, for its holder.
func (t *Toolbox) askFor(ctx context.Context, bearer string) {
	if bearer == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, t.opts.FirstWait)
	defer cancel()
	var wg sync.WaitGroup
	for _, l := range t.links {
		if known, ok := l.holders.of(bearer); l.wantsToken() && (!ok || time.Now().After(known.due)) {
			wg.Go(func() { l.listFor(ctx, bearer) })
		}
	}
	wg.Wait()
}

func (l *link) wantsToken() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.conn == nil && errors.Is(l.err, transport.ErrAuthorizationRequired)
}

func (l *link) listFor(ctx context.Context, bearer string) {
	conn, list, err := dial(ctx, l.box, l.server, caller{bearer: bearer})
	if err == nil {
		conn.retire(errRetired)
	}
	if !errors.Is(ctx.Err(), context.Canceled) {
		l.shown(bearer, list, err)
	}
}

// shown keeps what the holder of a token was shown.
func (l *link) shown(bearer string, list listing, err error) {
	l.holders.learn(bearer, list, err)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.warn(list)
}

// listedFor is what is listed to the holder of a token: what is shown to the
// holder alone, as long as there is no connection for everybody.
func (l *link) listedFor(bearer string) listing {
	known, ok := l.holders.of(bearer)
	l.mu.Lock()
	defer l.mu.Unlock()
	if ok && l.conn == nil && len(known.list.tools) > 0 {
		return known.list
	}
	return l.list
}
