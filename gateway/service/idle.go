package service

import (
	"sync"

	"agent-stop-and-go/workflows/contract"
)

// maxIdle is how many conversations are remembered. All are forgotten when there are
// more, which costs each of them a query.
const maxIdle = 10_000

// idleConversations are those that would have taken a message when they were last read.
// Each may be sent one message without being asked first: one that waits by now refuses it,
// so a caller gains one refusal in its history for each answer that it got. The zero value
// is ready.
type idleConversations struct {
	mu  sync.Mutex
	ids map[string]bool
}

// observe takes note of a conversation that has just been read.
func (i *idleConversations) observe(v contract.ConversationView) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if v.Status != contract.StatusActive || len(v.Pending) > 0 || v.Queued > 0 {
		delete(i.ids, v.ID)
		return
	}
	if i.ids == nil || len(i.ids) >= maxIdle {
		i.ids = map[string]bool{}
	}
	i.ids[v.ID] = true
}

// take reports whether a conversation is idle, and forgets it.
func (i *idleConversations) take(id string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	idle := i.ids[id]
	delete(i.ids, id)
	return idle
}
