package calls

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"time"

	"go.temporal.io/sdk/workflow"
)

// taskTime exceeds the duration of any workflow task.
const taskTime = 15 * time.Second

// WorkflowTasks knows the workflow tasks that calls hold, and releases those that are needed. It
// is safe for concurrent use.
type WorkflowTasks struct {
	mu       sync.Mutex
	tables   []*Table
	tasks    map[string]map[string]*task // by conversation and run
	requests [1024]requests              // by hash of the conversation
}

// NewWorkflowTasks returns the workflow tasks of a process whose server has their Interceptor.
func NewWorkflowTasks() *WorkflowTasks {
	return &WorkflowTasks{tasks: map[string]map[string]*task{}}
}

// task is a workflow task that local activities may hold.
type task struct {
	number   int
	until    time.Time     // set by the first call
	released chan struct{} // closed when the task is needed
	once     sync.Once
	expiry   *time.Timer
}

func (k *task) release() { k.once.Do(func() { close(k.released) }) }

// requests are those that need the workflow tasks of a conversation. Conversations may share
// them: then a call is handed over that need not be.
type requests struct {
	running int
	ended   time.Time // when the last one ended
}

var seed = maphash.MakeSeed()

func (w *WorkflowTasks) requestsOf(conversation string) *requests {
	return &w.requests[maphash.String(seed, conversation)%uint64(len(w.requests))]
}

// tell tells a table of workflow tasks that are complete, until it leaves.
func (w *WorkflowTasks) tell(t *Table) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tables = append(slices.Clone(w.tables), t)
}

func (w *WorkflowTasks) leave(t *Table) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tables = slices.DeleteFunc(slices.Clone(w.tables), func(other *Table) bool { return other == t })
}

func (w *WorkflowTasks) complete(runID string, number int) {
	w.mu.Lock()
	tables := w.tables
	w.mu.Unlock()
	for _, t := range tables {
		t.complete(runID, number)
	}
}

// beginRequest releases the workflow tasks of a conversation for a request. The caller calls
// endRequest when the server has handled it.
func (w *WorkflowTasks) beginRequest(workflowID string) {
	conversation := conversationOf(workflowID)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requestsOf(conversation).running++
	w.release(conversation)
}

func (w *WorkflowTasks) endRequest(workflowID string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.requestsOf(conversationOf(workflowID))
	r.running--
	r.ended = time.Now()
}

func (w *WorkflowTasks) release(conversation string) {
	for _, k := range w.tasks[conversation] {
		k.release()
	}
}

func (w *WorkflowTasks) releaseAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for conversation := range w.tasks {
		w.release(conversation)
	}
}

// deliver adds a workflow task that a worker gets. The server has buffered the requests that it
// handled since the start of the task.
func (w *WorkflowTasks) deliver(run workflow.Execution, number int, started time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := w.task(run, number)
	if r := w.requestsOf(conversationOf(run.ID)); r.running > 0 || !r.ended.Before(started) {
		k.release()
	}
}

// hold returns the workflow task of a run for a call. The task is held for at most the limit
// after its first call.
func (w *WorkflowTasks) hold(run workflow.Execution, number int, limit time.Duration) *task {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := w.task(run, number)
	if k.until.IsZero() {
		k.until = time.Now().Add(limit)
	}
	return k
}

// task returns a workflow task, and adds it if it is new. Its run has no older ones then.
func (w *WorkflowTasks) task(run workflow.Execution, number int) *task {
	conversation := conversationOf(run.ID)
	last := w.tasks[conversation][run.RunID]
	switch {
	case last == nil:
	case last.number == number:
		return last
	default:
		last.expiry.Stop()
	}
	if w.tasks[conversation] == nil {
		w.tasks[conversation] = map[string]*task{}
	}
	k := &task{number: number, released: make(chan struct{})}
	k.expiry = time.AfterFunc(taskTime, func() { w.forget(conversation, run.RunID, k) })
	w.tasks[conversation][run.RunID] = k
	return k
}

func (w *WorkflowTasks) forget(conversation, run string, k *task) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tasks[conversation][run] != k {
		return
	}
	delete(w.tasks[conversation], run)
	if len(w.tasks[conversation]) == 0 {
		delete(w.tasks, conversation)
	}
}

// conversationOf returns the workflow ID of the conversation that a workflow belongs to.
func conversationOf(workflowID string) string {
	conversation, _, _ := strings.Cut(workflowID, "/")
	return conversation
}
