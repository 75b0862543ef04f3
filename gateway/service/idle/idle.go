// Package idle remembers which conversations were ready for a message when they were last read.
package idle

import (
	"sync"

	"agent-stop-and-go/workflows/contract"
)

// most limits how many conversations are remembered. When it is reached all are forgotten,
// which costs each of them a query.
const most = 10_000

// Conversations are the conversations that were ready for a message when they were last
// read. Each may be sent one message without asking first. If it has stopped being ready, it
// refuses the message, so a caller can add one refusal to its history per answer that it got.
// The zero value is ready to use.
type Conversations struct {
	mu  sync.Mutex
	ids map[string]bool
}

// Observe updates the record of a conversation that was just read.
func (i *Conversations) Observe(v contract.ConversationView) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if v.Status != contract.StatusActive || len(v.Pending) > 0 || v.Queued > 0 {
		delete(i.ids, v.ID)
		return
	}
	if i.ids == nil || len(i.ids) >= most {
		i.ids = map[string]bool{}
	}
	i.ids[v.ID] = true
}

// Take reports whether a conversation is idle, and forgets it.
func (i *Conversations) Take(id string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	idle := i.ids[id]
	delete(i.ids, id)
	return idle
}
