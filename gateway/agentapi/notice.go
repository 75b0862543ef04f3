package agentapi

import (
	"errors"
	"slices"
	"sync"
	"time"
)

// keepNotices is how long what commands have answered is kept for a stream that is opened after them.
const keepNotices = time.Minute

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
	return &notices{now: now, streams: map[string]map[*subscription]bool{}}
}

// add delivers an answer to all streams of a client, or keeps it for the next.
func (n *notices) add(client, text string, last bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
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

// wake lets the streams of a client look for its session.
func (n *notices) wake(client string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for s := range n.streams[client] {
		s.notify()
	}
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
