// Package renewal bounds the tokens that a worker offers to tasks of other agents which wait for a
// login.
package renewal

import (
	"slices"
	"sync"

	"agent-stop-and-go/workflows/contract"
)

// maxTokens bounds the tokens that are offered to one task, maxTasks the tasks that are remembered.
const (
	maxTokens = 3
	maxTasks  = 1000
)

// Offers are the tokens that were offered. The zero value is ready to use, also concurrently.
type Offers struct {
	mu    sync.Mutex
	tasks map[string][]string // hashes of tokens, by task
}

// Take reports whether a token may be offered to a task. It was not before.
func (o *Offers) Take(task, token string) bool {
	key := contract.Hash([]byte(token))
	o.mu.Lock()
	defer o.mu.Unlock()
	offered := o.tasks[task]
	if slices.Contains(offered, key) || len(offered) == maxTokens {
		return false
	}
	if o.tasks == nil || len(o.tasks) == maxTasks {
		o.tasks = map[string][]string{}
	}
	o.tasks[task] = append(offered, key)
	return true
}

// Undo undoes Take for an offer that did not reach its task.
func (o *Offers) Undo(task, token string) {
	key := contract.Hash([]byte(token))
	o.mu.Lock()
	defer o.mu.Unlock()
	if i := slices.Index(o.tasks[task], key); i >= 0 {
		o.tasks[task] = slices.Delete(o.tasks[task], i, i+1)
	}
}
