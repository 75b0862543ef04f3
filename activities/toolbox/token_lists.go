package toolbox

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"

	"agent-stop-and-go/activities/bearer"
	"agent-stop-and-go/workflows/contract"
)

// How long the tools listed with a caller's token are not listed again, also after a failure, and
// for how many callers they are kept.
const (
	tokenListMaxAge = 5 * time.Minute
	tokenListRetry  = 15 * time.Second
	maxTokenLists   = 256
)

// tokenLists are the tools that a server has listed with callers' tokens, by the hash of the
// token.
type tokenLists struct {
	mu    sync.Mutex
	lists map[string]tokenList
}

type tokenList struct {
	list listing
	due  time.Time // when to list again
}

func tokenKey(bearer string) string { return contract.Hash([]byte(bearer)) }

func (h *tokenLists) of(bearer string) (tokenList, bool) {
	if bearer == "" {
		return tokenList{}, false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	known, ok := h.lists[tokenKey(bearer)]
	return known, ok
}

// store stores the result of a listing. An earlier list survives a failure, unless the server
// rejects the token.
func (h *tokenLists) store(bearer string, list listing, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	key := tokenKey(bearer)
	now := tokenList{list: list, due: time.Now().Add(tokenListMaxAge)}
	if err != nil {
		now = tokenList{due: time.Now().Add(tokenListRetry)}
		if !errors.Is(err, transport.ErrAuthorizationRequired) {
			now.list = h.lists[key].list
		}
	}
	if h.lists == nil {
		h.lists = map[string]tokenList{}
	}
	h.lists[key] = now
	if len(h.lists) > maxTokenLists {
		delete(h.lists, h.oldest())
	}
}

func (h *tokenLists) oldest() string {
	first := ""
	for key, one := range h.lists {
		if first == "" || one.due.Before(h.lists[first].due) {
			first = key
		}
	}
	return first
}

// askFor lists the tools of the servers that require a token.
func (t *Toolbox) askFor(ctx context.Context, tokens *bearer.Tokens) {
	if tokens == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, t.opts.FirstWait)
	defer cancel()
	var wg sync.WaitGroup
	for _, l := range t.links {
		if l.wantsToken() {
			wg.Go(func() { l.listFor(ctx, tokens.Get(ctx, l.server.Name)) })
		}
	}
	wg.Wait()
}

func (l *link) wantsToken() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.conn == nil && errors.Is(l.err, transport.ErrAuthorizationRequired)
}

// listFor lists the tools for the holder of a token, unless that was done a moment ago.
func (l *link) listFor(ctx context.Context, token string) {
	if known, ok := l.tokenLists.of(token); token == "" || ok && time.Now().Before(known.due) {
		return
	}
	conn, list, err := dial(ctx, l.box, l.server, caller{bearer: token})
	if err == nil {
		conn.retire(errRetired)
	}
	if !errors.Is(ctx.Err(), context.Canceled) {
		l.storeListing(token, list, err)
	}
}

// storeListing stores the tools listed with a token.
func (l *link) storeListing(bearer string, list listing, err error) {
	l.tokenLists.store(bearer, list, err)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.warn(list)
}

// listingFor returns the listing for the holder of a token, while there is no shared
// connection.
func (l *link) listingFor(bearer string) listing {
	known, ok := l.tokenLists.of(bearer)
	l.mu.Lock()
	defer l.mu.Unlock()
	if ok && l.conn == nil && len(known.list.tools) > 0 {
		return known.list
	}
	return l.list
}
