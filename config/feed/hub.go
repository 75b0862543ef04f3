package feed

import (
	"sync"
	"sync/atomic"

	"agent-stop-and-go/workflows/contract"
)

// capacity is the number of events that a slow subscriber may leave unread.
const capacity = 1024

// hub delivers events to the subscribers in this process.
type hub struct {
	count  atomic.Int64 // of subscribers
	mu     sync.Mutex
	topics map[string]*topic
	closed bool
}

// topic is a conversation with its subscribers. The hub's lock guards subscribers and
// position.
type topic struct {
	id          string
	subscribers map[*subscriber]struct{}
	ready       chan struct{} // closed when events arrive here
	position    string        // ID of the last entry read from the stream; empty until the topic is ready
}

type subscriber struct {
	events chan contract.Event
	late   bool // subscribed without waiting until the topic was ready
}

func newHub() *hub { return &hub{topics: map[string]*topic{}} }

// join adds a subscriber. ready says whether a new topic is ready at once; otherwise setReady
// is called later.
func (h *hub) join(id string, ready bool) (*topic, *subscriber) {
	w := &subscriber{events: make(chan contract.Event, capacity)}
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.topics[id]
	if r == nil {
		r = &topic{id: id, subscribers: map[*subscriber]struct{}{}, ready: make(chan struct{})}
		if ready {
			close(r.ready)
		}
	}
	if !h.closed {
		h.topics[id] = r
		r.subscribers[w] = struct{}{}
		h.count.Add(1)
	}
	return r, w
}

// leave ends a subscription. It may be called repeatedly.
func (h *hub) leave(r *topic, w *subscriber) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.remove(r, w)
}

func (h *hub) remove(r *topic, w *subscriber) {
	if _, in := r.subscribers[w]; !in {
		return
	}
	delete(r.subscribers, w)
	close(w.events)
	h.count.Add(-1)
	if len(r.subscribers) == 0 {
		delete(h.topics, r.id)
	}
}

func (h *hub) publish(n contract.Event) {
	if h.count.Load() == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if r := h.topics[n.ConversationID]; r != nil {
		h.push(r, n)
	}
}

// push gives an event to the subscribers of a topic. The channel of one without room is
// closed.
func (h *hub) push(r *topic, n contract.Event) {
	for w := range r.subscribers {
		select {
		case w.events <- n:
		default:
			h.remove(r, w)
		}
	}
}

// deliver gives a topic the events read from its stream up to an entry. With lost, the events
// that follow do not continue these, so the channels are closed.
func (h *hub) deliver(r *topic, events []contract.Event, last string, lost bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, n := range events {
		h.push(r, n)
	}
	r.position = last
	if lost {
		h.drop(r)
	}
}

// setReady makes a topic ready. Subscribers that did not wait for it may have missed events.
func (h *hub) setReady(r *topic, after string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r.position = after
	close(r.ready)
	for w := range r.subscribers {
		if w.late {
			w.events <- contract.Event{ConversationID: r.id} // the first event of the channel
		}
	}
}

// markLate records that a subscriber no longer waits for the topic.
func (h *hub) markLate(r *topic, w *subscriber) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w.late = r.position == ""
}

// split returns the topics that are ready with their positions, and the others.
func (h *hub) split() (live []*topic, after []string, others []*topic) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.topics {
		if r.position == "" {
			others = append(others, r)
			continue
		}
		live, after = append(live, r), append(after, r.position)
	}
	return live, after, others
}

func (h *hub) drop(r *topic) {
	for w := range r.subscribers {
		h.remove(r, w)
	}
}

// dropReady closes the channels of all topics that are ready.
func (h *hub) dropReady() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.topics {
		if r.position != "" {
			h.drop(r)
		}
	}
}

func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for _, r := range h.topics {
		h.drop(r)
	}
}
