package bearer

import (
	"context"
	"slices"
	"sync"
)

// Tokens are one caller's tokens for the servers that list their tools only with a token. They
// are safe for concurrent use; nil has none.
type Tokens struct {
	get func(ctx context.Context, server string) string

	mu    sync.Mutex
	known map[string]string
}

// NewTokens makes Tokens. get returns the token for a server by its name, or "".
func NewTokens(get func(ctx context.Context, server string) string) *Tokens {
	return &Tokens{get: get, known: map[string]string{}}
}

// Get returns the token for a server, which it asks for each time.
func (t *Tokens) Get(ctx context.Context, server string) string {
	token := t.get(ctx, server)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.known[server] = token
	return token
}

// Last returns what Get has returned last for a server, or "".
func (t *Tokens) Last(server string) string {
	if t == nil {
		return ""
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.known[server]
}

// missing lists the servers for which Get has returned no token last.
func (t *Tokens) missing() []string {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []string
	for server, token := range t.known {
		if token == "" {
			out = append(out, server)
		}
	}
	slices.Sort(out)
	return out
}

type tokensKey struct{}

// NewContext returns a context with tokens.
func NewContext(ctx context.Context, t *Tokens) context.Context {
	return context.WithValue(ctx, tokensKey{}, t)
}

// FromContext returns the tokens of a context, or nil.
func FromContext(ctx context.Context) *Tokens {
	t, _ := ctx.Value(tokensKey{}).(*Tokens)
	return t
}
