package slackchat

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/slack-go/slack"
)

// pace keeps calls apart: one at a time in each channel, and none before the time that Slack has
// asked to wait for.
type pace struct {
	least time.Duration

	mu       sync.Mutex
	channels map[string]*turnstile
	until    time.Time // for all: Slack limits methods, and not only channels
}

type turnstile struct {
	lock chan struct{} // capacity 1
	next time.Time
	used int // calls that wait or run
}

func newPace(least time.Duration) *pace {
	return &pace{least: least, channels: map[string]*turnstile{}}
}

// call calls f when it may, and again if Slack asks for that. Any other call that fails is not
// repeated here, because it may have been carried out.
func (p *pace) call(ctx context.Context, channel string, f func() error) error {
	t := p.enter(channel)
	defer p.leave(channel, t)
	select {
	case t.lock <- struct{}{}:
		defer func() { <-t.lock }()
	case <-ctx.Done():
		return ctx.Err()
	}
	for {
		sleep(ctx, max(time.Until(t.next), p.blocked()))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		err := f()
		t.next = time.Now().Add(p.least)
		var limited *slack.RateLimitedError
		if !errors.As(err, &limited) {
			return err
		}
		p.block(max(limited.RetryAfter, time.Second))
	}
}

func (p *pace) enter(channel string) *turnstile {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.channels[channel]
	if t == nil {
		t = &turnstile{lock: make(chan struct{}, 1)}
		p.channels[channel] = t
	}
	t.used++
	return t
}

// leave forgets channels in which nothing happens, except for the pause after their last call.
func (p *pace) leave(channel string, t *turnstile) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t.used--; t.used == 0 && len(p.channels) > 1000 {
		delete(p.channels, channel)
	}
}

func (p *pace) blocked() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Until(p.until)
}

func (p *pace) block(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until := time.Now().Add(d); until.After(p.until) {
		p.until = until
	}
}
