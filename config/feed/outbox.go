package feed

import (
	"sync"

	"agent-stop-and-go/workflows/contract"
)

// Bounds of what waits to be sent.
const (
	maxEntries = 4096
	maxText    = 32 << 10 // of one entry
	maxWaiting = 4 << 20  // of the texts of all
	maxLost    = 65536    // conversations
	lostAtOnce = 1024
)

// outbox is what waits to be sent. Once something of a conversation is lost, nothing
// of it is taken until a mark of the loss is on its way.
type outbox struct {
	signal chan struct{}

	mu      sync.Mutex
	entries []entry
	last    map[string]int // conversation → its last entry
	waiting int
	lost    map[string]struct{}
	down    bool
	knocked bool
}

// entry is news, with the text of a delta apart.
type entry struct {
	news contract.Event
	text []byte
}

// batch is what is sent at once: entries, then marks of losses.
type batch struct {
	entries []entry
	lost    []string
	knock   bool // wake the reader
}

func (b batch) empty() bool { return len(b.entries) == 0 && len(b.lost) == 0 && !b.knock }

func newOutbox() *outbox {
	return &outbox{signal: make(chan struct{}, 1), last: map[string]int{}, lost: map[string]struct{}{}}
}

// add queues news, or loses it.
func (o *outbox) add(n contract.Event) {
	id := n.ConversationID
	if id == "" {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	n.Settled, n.Tree = nil, nil
	if _, lost := o.lost[id]; lost || o.down || len(o.entries) >= maxEntries || o.waiting >= maxWaiting {
		o.lose(id)
	} else if i, ok := o.last[id]; !ok || !o.join(i, n) {
		o.last[id] = len(o.entries)
		o.entries = append(o.entries, entry{news: n})
		o.waiting += text(n)
	}
	if !o.down {
		o.wake()
	}
}

func text(n contract.Event) int {
	if n.Delta == nil {
		return 0
	}
	return len(n.Delta.Text)
}

// join adds news to an entry that it follows, if one entry can say both.
func (o *outbox) join(i int, n contract.Event) bool {
	e := &o.entries[i]
	a, b := e.news.Delta, n.Delta
	if a == nil || b == nil {
		return a == b && e.news.Draft == nil && n.Draft == nil // has changed, and has changed
	}
	same := a.DraftID == b.DraftID && a.Kind == b.Kind && a.Call == b.Call && a.Tool == b.Tool && a.Kind != contract.DeltaCall
	if !same || len(a.Text)+len(e.text)+len(b.Text) > maxText {
		return false
	}
	e.text = append(e.text, b.Text...)
	o.waiting += len(b.Text)
	return true
}

func (o *outbox) lose(id string) {
	if len(o.lost) < maxLost {
		o.lost[id] = struct{}{}
	}
}

func (o *outbox) wake() {
	select {
	case o.signal <- struct{}{}:
	default:
	}
}

// knock asks to wake the reader.
func (o *outbox) knock() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.knocked = true
	o.wake()
}

// take empties the outbox, but for the marks that are too many.
func (o *outbox) take() batch {
	o.mu.Lock()
	defer o.mu.Unlock()
	b := batch{entries: o.entries, knock: o.knocked}
	for id := range o.lost {
		if len(b.lost) == lostAtOnce {
			break
		}
		b.lost = append(b.lost, id)
		delete(o.lost, id)
	}
	o.clear()
	return b
}

func (o *outbox) clear() {
	o.entries, o.waiting, o.knocked = nil, 0, false
	clear(o.last)
}

// fail loses a batch that was not sent, and all that came after it, until up.
func (o *outbox) fail(b batch) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range append(b.entries, o.entries...) {
		o.lose(e.news.ConversationID)
	}
	for _, id := range b.lost {
		o.lose(id)
	}
	o.clear()
	o.down = true
}

func (o *outbox) up() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.down, o.knocked = false, true
	o.wake()
}
