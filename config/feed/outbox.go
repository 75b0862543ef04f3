package feed

import (
	"sync"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/generation"
)

// Limits of the outbox.
const (
	maxEntries  = 4096
	maxText     = 32 << 10 // of one entry
	maxTextSize = 4 << 20  // of the texts of all
	maxLost     = 65536    // conversations
	lostAtOnce  = 1024
)

// outbox contains the entries that wait to be sent. After an event of a conversation is lost,
// no other event of it is added until a mark of the loss is taken.
type outbox struct {
	signal chan struct{}

	mu        sync.Mutex
	entries   []entry
	last      map[string]int // index of the last entry by conversation
	textSize  int
	lost      map[string]struct{}
	down      bool
	wakeAsked bool
}

// entry is an event, with the text of its delta apart.
type entry struct {
	event contract.Event
	text  []byte
}

// batch is sent in one transaction: entries, then marks of losses.
type batch struct {
	entries []entry
	lost    []string
	wake    bool // write to the wake stream
}

func (b batch) empty() bool { return len(b.entries) == 0 && len(b.lost) == 0 && !b.wake }

func newOutbox() *outbox {
	return &outbox{signal: make(chan struct{}, 1), last: map[string]int{}, lost: map[string]struct{}{}}
}

// add queues an event, or records its loss.
func (o *outbox) add(n contract.Event) {
	id := n.ConversationID
	if id == "" {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	n.Settled, n.Tree = nil, nil
	if _, lost := o.lost[id]; lost || o.down || len(o.entries) >= maxEntries || o.textSize >= maxTextSize {
		o.lose(id)
	} else if i, ok := o.last[id]; !ok || !o.merge(i, n) {
		o.last[id] = len(o.entries)
		o.entries = append(o.entries, entry{event: n})
		o.textSize += textLen(n)
	}
	if !o.down {
		o.wake()
	}
}

func textLen(n contract.Event) int {
	if n.Delta == nil {
		return 0
	}
	return len(n.Delta.Text)
}

// merge merges an event into an entry, if one entry can represent both.
func (o *outbox) merge(i int, n contract.Event) bool {
	e := &o.entries[i]
	a, b := e.event.Delta, n.Delta
	if a == nil || b == nil {
		return a == b && e.event.Draft == nil && n.Draft == nil // two events without content
	}
	same := a.DraftID == b.DraftID && a.Kind == b.Kind && a.Call == b.Call && a.Tool == b.Tool && a.Kind != generation.Call
	if !same || len(a.Text)+len(e.text)+len(b.Text) > maxText {
		return false
	}
	e.text = append(e.text, b.Text...)
	o.textSize += len(b.Text)
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

// requestWake asks to wake the reader.
func (o *outbox) requestWake() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.wakeAsked = true
	o.wake()
}

// take empties the outbox, except for marks beyond the limit of a batch.
func (o *outbox) take() batch {
	o.mu.Lock()
	defer o.mu.Unlock()
	b := batch{entries: o.entries, wake: o.wakeAsked}
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
	o.entries, o.textSize, o.wakeAsked = nil, 0, false
	clear(o.last)
}

// fail records the loss of a batch that was not sent, and of everything added until up is
// called.
func (o *outbox) fail(b batch) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range append(b.entries, o.entries...) {
		o.lose(e.event.ConversationID)
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
	o.down, o.wakeAsked = false, true
	o.wake()
}
