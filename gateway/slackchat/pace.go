package slackchat

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/slack-go/slack"
)

// pace keeps calls apart: one at a time with each key, and none of a method before the time that Slack
// has asked to wait for. A key is a channel for what changes its messages, a thread for what reads it,
// and a user for what is for this user alone: nobody waits for what another one has caused.
type pace struct {
	least time.Duration

	mu    sync.Mutex
	keys  map[string]*turnstile
	until map[string]time.Time // by method: Slack limits each in a workspace
}

type turnstile struct {
	lock chan struct{} // capacity 1
	next time.Time
	used int // calls that wait or run
}

func newPace(least time.Duration) *pace {
	return &pace{least: least, keys: map[string]*turnstile{}, until: map[string]time.Time{}}
}

// errLimited says that Slack does not take calls of a method for a while.
var errLimited = errors.New("no more calls of this method are taken for a while")

// call calls f, which calls a method, when it may, and again if Slack asks for that. Any other call
// that fails is not repeated here, because it may have been carried out.
func (p *pace) call(ctx context.Context, method, key string, f func() error) error {
	return p.do(ctx, method, key, true, f)
}

// attempt is like call, but fails with errLimited where call waits until Slack takes the method again.
func (p *pace) attempt(ctx context.Context, method, key string, f func() error) error {
	return p.do(ctx, method, key, false, f)
}

func (p *pace) do(ctx context.Context, method, key string, patient bool, f func() error) error {
	t := p.enter(key)
	defer p.leave(key, t)
	select {
	case t.lock <- struct{}{}:
		defer func() { <-t.lock }()
	case <-ctx.Done():
		return ctx.Err()
	}
	for {
		if !patient && p.blocked(method) > 0 {
			return errLimited
		}
		sleep(ctx, max(time.Until(t.next), p.blocked(method)))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		err := f()
		t.next = time.Now().Add(p.least)
		var limited *slack.RateLimitedError
		if !errors.As(err, &limited) {
			return err
		}
		p.block(method, max(limited.RetryAfter, time.Second))
	}
}

func (p *pace) enter(key string) *turnstile {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.keys[key]
	if t == nil {
		t = &turnstile{lock: make(chan struct{}, 1)}
		p.keys[key] = t
	}
	t.used++
	return t
}

// maxIdle is how many keys are kept with which nothing happens, for the pause after their last call.
const maxIdle = 1000

func (p *pace) leave(key string, t *turnstile) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t.used--; t.used == 0 && len(p.keys) > maxIdle {
		delete(p.keys, key)
	}
}

func (p *pace) blocked(method string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Until(p.until[method])
}

func (p *pace) block(method string, d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until := time.Now().Add(d); until.After(p.until[method]) {
		p.until[method] = until
	}
}
