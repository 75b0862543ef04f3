package feed

import (
	"sync"
	"sync/atomic"

	"agent-stop-and-go/workflows/contract"
)

// capacity is how much news waits for a slow watcher.
const capacity = 1024

// hub gives news to the watchers in this process.
type hub struct {
	count  atomic.Int64 // of watchers
	mu     sync.Mutex
	rooms  map[string]*room
	closed bool
}

// room is those who watch one conversation. Its watchers and what it is after are
// guarded by the hub.
type room struct {
	id       string
	watchers map[*watcher]struct{}
	live     chan struct{} // closed once news get here
	after    string        // the last entry of the stream that was read; empty until the room is live
}

type watcher struct {
	news chan contract.Event
	late bool // began to watch before the room was live
}

func newHub() *hub { return &hub{rooms: map[string]*room{}} }

// join adds a watcher. A new room is live at once, or when enter says so.
func (h *hub) join(id string, live bool) (*room, *watcher) {
	w := &watcher{news: make(chan contract.Event, capacity)}
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.rooms[id]
	if r == nil {
		r = &room{id: id, watchers: map[*watcher]struct{}{}, live: make(chan struct{})}
		if live {
			close(r.live)
		}
	}
	if !h.closed {
		h.rooms[id] = r
		r.watchers[w] = struct{}{}
		h.count.Add(1)
	}
	return r, w
}

// leave closes the channel of a watcher, unless it is closed.
func (h *hub) leave(r *room, w *watcher) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.remove(r, w)
}

func (h *hub) remove(r *room, w *watcher) {
	if _, in := r.watchers[w]; !in {
		return
	}
	delete(r.watchers, w)
	close(w.news)
	h.count.Add(-1)
	if len(r.watchers) == 0 {
		delete(h.rooms, r.id)
	}
}

func (h *hub) tell(n contract.Event) {
	if h.count.Load() == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if r := h.rooms[n.ConversationID]; r != nil {
		h.push(r, n)
	}
}

// push gives news to a room. Who has no place for it is told of the loss.
func (h *hub) push(r *room, n contract.Event) {
	for w := range r.watchers {
		select {
		case w.news <- n:
		default:
			h.remove(r, w)
		}
	}
}

// deliver gives a room what was read of its stream up to an entry. Lost means that
// what comes next does not follow upon it.
func (h *hub) deliver(r *room, news []contract.Event, last string, lost bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, n := range news {
		h.push(r, n)
	}
	r.after = last
	if lost {
		h.lose(r)
	}
}

// enter makes a room live. Those who could not wait for it missed something.
func (h *hub) enter(r *room, after string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r.after = after
	close(r.live)
	for w := range r.watchers {
		if w.late {
			w.news <- contract.Event{ConversationID: r.id} // its first
		}
	}
}

// late tells that a watcher does not wait for the room.
func (h *hub) late(r *room, w *watcher) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w.late = r.after == ""
}

// split returns the rooms that are live, what they are after, and the others.
func (h *hub) split() (live []*room, after []string, others []*room) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.rooms {
		if r.after == "" {
			others = append(others, r)
			continue
		}
		live, after = append(live, r), append(after, r.after)
	}
	return live, after, others
}

func (h *hub) lose(r *room) {
	for w := range r.watchers {
		h.remove(r, w)
	}
}

// loseLive tells all who get news that they may have lost some.
func (h *hub) loseLive() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.rooms {
		if r.after != "" {
			h.lose(r)
		}
	}
}

func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for _, r := range h.rooms {
		h.lose(r)
	}
}
