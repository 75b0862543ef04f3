package service

import (
	"sync"

	"agent-stop-and-go/workflows/contract"
)

// maxIdle limits how many conversations are remembered. When it is reached all are forgotten,
// which costs each of them a query.
const maxIdle = 10_000

// idleConversations are the conversations that were ready for a message when they were last
// read. Each may be sent one message without asking first. If it has stopped being ready, it
// refuses the message, so a caller can add one refusal to its history per answer that it got.
// The zero value is ready to use.
type idleConversations struct {
	mu  sync.Mutex
	ids map[string]bool
}

// observe updates the record of a conversation that was just read.
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
