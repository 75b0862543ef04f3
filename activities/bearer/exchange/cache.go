package exchange

import (
	"context"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"

	"agent-stop-and-go/workflows/credential"
)

// issued is a token that the provider has issued.
type issued struct {
	bearer string
	until  time.Time // from when on it is not used any more
	// kind and scheme are issued_token_type and token_type.
	kind, scheme string
}

const (
	// margin is how long before its end a token is used no more: a call takes a while.
	margin = 30 * time.Second
	// unknownAge is how long a token is used whose end nobody knows.
	unknownAge = 5 * time.Minute
	maxTokens  = 10_000
)

func (p *Provider) issued(t *oauth2.Token) issued {
	end := t.Expiry
	if end.IsZero() {
		end = credential.NewToken(t.AccessToken).ExpiresAt
	}
	if end.IsZero() {
		end = p.Now().Add(unknownAge)
	}
	left := end.Sub(p.Now())
	kind, _ := t.Extra("issued_token_type").(string)
	return issued{bearer: t.AccessToken, until: end.Add(-min(margin, left/2)), kind: kind, scheme: t.Type()}
}

// cache keeps issued tokens until shortly before their end, in memory.
type cache struct {
	now    func() time.Time
	flight singleflight.Group

	mu     sync.Mutex
	tokens map[string]issued
}

// get returns the token of a key, or a new one. One that equals old is replaced. Those who wait for
// the same token at the same time get it by one request.
func (c *cache) get(ctx context.Context, key, old string, issue func(context.Context) (issued, error)) (issued, error) {
	if t, ok := c.find(key); ok && t.bearer != old {
		return t, nil
	}
	result := c.flight.DoChan(key, func() (any, error) {
		if t, ok := c.find(key); ok && t.bearer != old { // the one before has just got it
			return t, nil
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*requestTimeout)
		defer cancel()
		t, err := issue(ctx)
		if err == nil {
			c.keep(key, t)
		}
		return t, err
	})
	select {
	case r := <-result:
		t, _ := r.Val.(issued)
		return t, r.Err
	case <-ctx.Done():
		return issued{}, ctx.Err()
	}
}

func (c *cache) find(key string) (issued, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, ok := c.tokens[key]
	return t, ok && c.now().Before(t.until)
}

func (c *cache) keep(key string, t issued) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tokens == nil || len(c.tokens) >= maxTokens {
		c.tokens = c.valid()
	}
	c.tokens[key] = t
}

// valid returns the tokens that can still be used, or none if those are too many: they are issued
// again when they are needed.
func (c *cache) valid() map[string]issued {
	out := map[string]issued{}
	for key, t := range c.tokens {
		if c.now().Before(t.until) {
			out[key] = t
		}
	}
	if len(out) >= maxTokens {
		return map[string]issued{}
	}
	return out
}
