package agentapi

import (
	"errors"
	"maps"
	"slices"
	"strings"
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

	// epoch names the process, in which answers have numbers.
	epoch string

	mu      sync.Mutex
	number  int                               // of the last answer
	streams map[string]map[*subscription]bool // by client
	kept    []notice                          // for the next stream
	given   []notice                          // to a stream, which may have lost its connection
	begun   map[string]beginning              // by client
}

// beginning is a session that has begun in this process. While its first model call is quick work of a
// workflow task, the conversation cannot be read, so streams follow it at once.
type beginning struct {
	session session
	at      time.Time
}

// notice is an answer. last: nothing follows it, because no message was sent. seen is the session as the
// commands have found it.
type notice struct {
	client, text string
	last         bool
	seen         session
	at           time.Time
	number       int
}

// subscription gets what happens to a client.
type subscription struct {
	of     *notices
	client string
	// begun is the answer after which it begins.
	begun answered
	wake  chan struct{} // capacity 1
	mu    sync.Mutex
	items []notice
	size  int  // the bytes of items
	lost  bool // more than maxNoticeBytes have come since the last call of take
}

// errUnread is the error of a stream that does not take what commands answer.
var errUnread = errors.New("the client does not read what its commands answer")

func newNotices(now func() time.Time) *notices {
	return &notices{now: now, epoch: strings.TrimPrefix(newClient(), clientPrefix), streams: map[string]map[*subscription]bool{}, begun: map[string]beginning{}}
}

// add delivers an answer to all streams of a client, or keeps it for the next.
func (n *notices) add(client string, seen session, text string, last bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.begun, client)
	n.number++
	item := notice{client, text, last, seen, n.now(), n.number}
	n.expire()
	if len(n.streams[client]) == 0 {
		n.kept = shrink(append(n.kept, item))
		return
	}
	n.given = shrink(append(n.given, item))
	for s := range n.streams[client] {
		s.put(item)
	}
}

// shrink drops the oldest answers beyond the bounds.
func shrink(kept []notice) []notice {
	drop, size := max(0, len(kept)-maxNotices), 0
	for i, item := range slices.Backward(kept) {
		if size += len(item.text); size > maxNoticeBytes {
			drop = max(drop, i+1)
			break
		}
	}
	return slices.Delete(kept, 0, drop)
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
	old := func(i notice) bool { return i.at.Before(from) }
	n.kept, n.given = slices.DeleteFunc(n.kept, old), slices.DeleteFunc(n.given, old)
}

// subscribe returns a subscription, which has what was kept, and what has followed the last answer that the
// client has, if that is known. It must be closed.
func (n *notices) subscribe(client string, last answered) *subscription {
	s := &subscription{of: n, client: client, wake: make(chan struct{}, 1)}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.expire()
	s.begun = answered{epoch: n.epoch, n: n.number, owed: last.owed} // the end of an answer is owed at any gateway
	if last.epoch == n.epoch {
		s.begun = last
	}
	next := slices.DeleteFunc(slices.Concat(n.given, n.kept), func(i notice) bool { return i.client != client || i.number <= s.begun.n })
	if last.epoch != n.epoch {
		next = slices.DeleteFunc(slices.Clone(n.kept), func(i notice) bool { return i.client != client })
	}
	slices.SortFunc(next, func(a, b notice) int { return a.number - b.number })
	for _, item := range next {
		s.put(item)
	}
	if len(next) > 0 && last.epoch != n.epoch {
		s.begun.n = next[0].number - 1
	}
	n.take(client)
	if n.streams[client] == nil {
		n.streams[client] = map[*subscription]bool{}
	}
	n.streams[client][s] = true
	return s
}

// take notes that what was kept for a client has a stream.
func (n *notices) take(client string) {
	var others []notice
	for _, item := range n.kept {
		if item.client == client {
			n.given = append(n.given, item)
		} else {
			others = append(others, item)
		}
	}
	n.kept, n.given = others, shrink(n.given)
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
