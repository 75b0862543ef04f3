package agentapi

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// keepNotices is how long what commands have answered is kept for a stream that is opened after them.
const keepNotices = time.Minute

// keepBegun is how long a session counts as fresh.
const keepBegun = 5 * time.Second

// maxNotices and maxNoticeBytes bound what is kept of all clients together.
const (
	maxNotices     = 1000
	maxNoticeBytes = 1 << 20
)

// notices has what commands have answered, for the streams of this process: it is in no record. The reply
// to the request has it in any case.
type notices struct {
	now func() time.Time

	mu      sync.Mutex
	streams map[string]map[*subscription]bool // by client
	kept    []notice
	begun   map[string]beginning // by client
}

// beginning is a session that has begun in this process. While its first model call is quick work of a
// workflow task, the conversation cannot be read, so streams follow it at once.
type beginning struct {
	session session
	at      time.Time
}

// notice is an answer. last: nothing follows it, because no message was sent.
type notice struct {
	client, text string
	last         bool
	at           time.Time
}

// subscription gets what happens to a client.
type subscription struct {
	of     *notices
	client string
	wake   chan struct{} // capacity 1
	mu     sync.Mutex
	items  []notice
	size   int  // the bytes of items
	lost   bool // more than maxNoticeBytes have come since the last call of take
}

// errUnread is the error of a stream that does not take what commands answer.
var errUnread = errors.New("the client does not read what its commands answer")

func newNotices(now func() time.Time) *notices {
	return &notices{now: now, streams: map[string]map[*subscription]bool{}, begun: map[string]beginning{}}
}

// add delivers an answer to all streams of a client, or keeps it for the next.
func (n *notices) add(client, text string, last bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.begun, client)
	item := notice{client, text, last, n.now()}
	if len(n.streams[client]) == 0 {
		n.expire()
		n.kept = append(n.kept, item)
		n.shrink()
		return
	}
	for s := range n.streams[client] {
		s.put(item)
	}
}

// shrink drops the oldest answers beyond the bounds.
func (n *notices) shrink() {
	drop, size := max(0, len(n.kept)-maxNotices), 0
	for i, item := range slices.Backward(n.kept) {
		if size += len(item.text); size > maxNoticeBytes {
			drop = max(drop, i+1)
			break
		}
	}
	n.kept = slices.Delete(n.kept, 0, drop)
}

// begin lets the streams of a client follow its session, which has begun.
func (n *notices) begin(client string, s session) {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := n.now()
	maps.DeleteFunc(n.begun, func(_ string, b beginning) bool { return now.Sub(b.at) > keepBegun })
	s.exists, s.fresh = true, true
	s.view = contract.ConversationView{ID: s.id, Running: true}
	n.begun[client] = beginning{s, now}
	for s := range n.streams[client] {
		s.notify()
	}
}

// goOn lets streams that are opened read the session of a client again: something follows its beginning.
func (n *notices) goOn(client string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.begun, client)
}

// fresh returns the session of a client that has just begun.
func (n *notices) fresh(client string) (session, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	b, ok := n.begun[client]
	if !ok || n.now().Sub(b.at) > keepBegun || slices.ContainsFunc(n.kept, func(i notice) bool { return i.client == client }) {
		return session{}, false
	}
	return b.session, true
}

// expire drops what is old.
func (n *notices) expire() {
	from := n.now().Add(-keepNotices)
	for len(n.kept) > 0 && n.kept[0].at.Before(from) {
		n.kept = n.kept[1:]
	}
}

// subscribe returns a subscription, which has what was kept. It must be closed.
func (n *notices) subscribe(client string) *subscription {
	s := &subscription{of: n, client: client, wake: make(chan struct{}, 1)}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.expire()
	var others []notice
	for _, item := range n.kept {
		if item.client == client {
			s.put(item)
		} else {
			others = append(others, item)
		}
	}
	n.kept = others
	if n.streams[client] == nil {
		n.streams[client] = map[*subscription]bool{}
	}
	n.streams[client][s] = true
	return s
}

func (s *subscription) close() {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	delete(s.of.streams[s.client], s)
	if len(s.of.streams[s.client]) == 0 {
		delete(s.of.streams, s.client)
	}
}

func (s *subscription) put(item notice) {
	s.mu.Lock()
	if s.size += len(item.text); s.size > maxNoticeBytes {
		s.items, s.lost = nil, true
	} else {
		s.items = append(s.items, item)
	}
	s.mu.Unlock()
	s.notify()
}

func (s *subscription) notify() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// take returns what has come since the last call, or errUnread if that was too much to keep.
func (s *subscription) take() ([]notice, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	items := s.items
	if s.lost {
		return nil, errUnread
	}
	s.items, s.size = nil, 0
	return items, nil
}
