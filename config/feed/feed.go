package feed

import (
	"log/slog"

	"agent-stop-and-go/workflows/contract"
)

// Kind says what carries news.
type Kind string

// The kinds of feeds.
const (
	KindMemory Kind = "memory"
	KindRedis  Kind = "redis"
	KindNone   Kind = "none"
)

const noFeed = "durable events only: set events.redis for the pieces of replies while they are being made"

// State is how a feed is. Problem is empty when it is Ready, and holds no secret.
type State struct {
	Kind    Kind
	Ready   bool
	Problem string
}

// Feed is safe for concurrent use.
type Feed struct {
	kind Kind
	hub  *hub
	link *link // of KindRedis
}

// Options say which feed to open.
type Options struct {
	// Redis is a redis:// or rediss:// URL, which may hold a password; empty is none.
	Redis string
	// OneProcess: who tells and who watches are in this process.
	OneProcess bool
	// Logger is slog.Default when nil.
	Logger *slog.Logger
}

// Open opens a feed by Redis if there is one; else one in memory, if that reaches
// anybody. It does not wait for Redis: State tells how that is.
func Open(o Options) (*Feed, error) {
	switch {
	case o.Redis != "":
		return byRedis(o.Redis, o.Logger)
	case o.OneProcess:
		return Memory(), nil
	}
	return None(), nil
}

// Memory is a feed within this process.
func Memory() *Feed { return &Feed{kind: KindMemory, hub: newHub()} }

// None is a feed that carries nothing, and says why in its State.
func None() *Feed { return &Feed{kind: KindNone, hub: newHub()} }

// Teller is who is told news.
type Teller interface{ Publish(contract.Event) }

// Teller is the feed, or nil when it carries nothing: then nothing need be told.
func (f *Feed) Teller() Teller {
	if f.kind == KindNone {
		return nil
	}
	return f
}

// Publish passes news on. It never blocks and never fails. Neither the caller nor
// those who watch may change what it points to.
func (f *Feed) Publish(n contract.Event) {
	switch f.kind {
	case KindMemory:
		f.hub.tell(n)
	case KindRedis:
		f.link.outbox.add(n)
	}
}

// Subscribe delivers the news of a conversation from now on, to any number of
// watchers. The channel is closed when something may have been lost, because the
// watcher was slow (1024 news) or Redis was away: read the conversation and watch
// again. Stop ends it and closes the channel; it may be called often. By Redis the
// call may take up to a quarter of a second; a watcher who got no place in that time
// hears that something has changed when it has one.
func (f *Feed) Subscribe(conversationID string) (news <-chan contract.Event, stop func()) {
	r, w := f.hub.join(conversationID, f.kind != KindRedis)
	if f.kind == KindRedis {
		f.link.await(r, w)
	}
	return w.news, func() { f.hub.leave(r, w) }
}

// State tells how the feed is now.
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

// Carrier is the State in words that need no package: memory, redis or none, and
// the problem, if any.
func (f *Feed) Carrier() (kind, problem string) {
	s := f.State()
	return string(s.Kind), s.Problem
}

// Close sends what waits to be sent and closes the channels of all who watch. After
// it nothing is carried.
func (f *Feed) Close() error {
	var err error
	if f.link != nil {
		err = f.link.close()
	}
	f.hub.close()
	return err
}
