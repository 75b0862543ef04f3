package feed

import (
	"log/slog"

	"agent-stop-and-go/workflows/contract"
)

// Kind is the transport of a feed.
type Kind string

const (
	KindMemory Kind = "memory"
	KindRedis  Kind = "redis"
	KindNone   Kind = "none"
)

const noFeed = "durable events only: set events.redis for the pieces of replies while they are being made"

// State is the condition of a feed. Problem is empty if it is Ready, and contains no secret.
type State struct {
	Kind    Kind
	Ready   bool
	Problem string
}

// Feed is safe for concurrent use.
type Feed struct {
	kind Kind
	hub  *hub
	link *link // for KindRedis
}

// Options select the feed to open.
type Options struct {
	// Redis is a redis:// or rediss:// URL, which may contain a password. Empty means no
	// Redis.
	Redis string
	// OneProcess: all publishers and subscribers are in this process.
	OneProcess bool
	// Logger is slog.Default by default.
	Logger *slog.Logger
}

// Open returns a feed on Redis if there is a URL; otherwise one in memory, if publishers and
// subscribers are in this process. It does not wait for Redis: State reports its condition.
func Open(o Options) (*Feed, error) {
	switch {
	case o.Redis != "":
		return openRedis(o.Redis, o.Logger)
	case o.OneProcess:
		return Memory(), nil
	}
	return None(), nil
}

// Memory returns a feed within this process.
func Memory() *Feed { return &Feed{kind: KindMemory, hub: newHub()} }

// None returns a feed that carries nothing. Its State says why.
func None() *Feed { return &Feed{kind: KindNone, hub: newHub()} }

// Publisher publishes events.
type Publisher interface{ Publish(contract.Event) }

// Publisher returns the feed, or nil if it carries nothing.
func (f *Feed) Publisher() Publisher {
	if f.kind == KindNone {
		return nil
	}
	return f
}

// Publish publishes an event. It does not block and does not fail. Neither the caller nor a
// subscriber may change the values that it points to.
func (f *Feed) Publish(n contract.Event) {
	switch f.kind {
	case KindMemory:
		f.hub.publish(n)
	case KindRedis:
		f.link.outbox.add(n)
	}
}

// Subscribe returns the events of a conversation from now on. The channel is closed when an
// event may have been lost, because the subscriber is slow (1024 unread events) or Redis was
// unreachable: read the conversation and subscribe again. stop ends the subscription and
// closes the channel; it may be called repeatedly. With Redis, the call may take up to a
// quarter of a second. If the subscription is not ready by then, the subscriber gets an event
// without content when it is.
func (f *Feed) Subscribe(conversationID string) (events <-chan contract.Event, stop func()) {
	r, w := f.hub.join(conversationID, f.kind != KindRedis)
	if f.kind == KindRedis {
		f.link.awaitReady(r, w)
	}
	return w.events, func() { f.hub.leave(r, w) }
}

// State returns the current condition of the feed.
func (f *Feed) State() State {
	switch f.kind {
	case KindRedis:
		problem := f.link.health.problem()
		return State{Kind: f.kind, Ready: problem == "", Problem: problem}
	case KindNone:
		return State{Kind: f.kind, Problem: noFeed}
	}
	return State{Kind: f.kind, Ready: true}
}

// Carrier returns the State as plain strings: memory, redis or none, and the problem, if any.
func (f *Feed) Carrier() (kind, problem string) {
	s := f.State()
	return string(s.Kind), s.Problem
}

// Close sends the queued events and closes the channels of all subscribers.
func (f *Feed) Close() error {
	var err error
	if f.link != nil {
		err = f.link.close()
	}
	f.hub.close()
	return err
}
