package calls

import (
	"context"
	"crypto/rand"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
)

const (
	// holdNoticed is the time that a workflow task is held if all requests to its conversation
	// pass through Interceptor; holdUnnoticed is the time otherwise.
	holdNoticed   = 2 * time.Second
	holdUnnoticed = 200 * time.Millisecond
	// taskTime exceeds the duration of any workflow task.
	taskTime = 15 * time.Second
	// keep is the time that a call waits for the activity that joins it. It exceeds the time
	// that the activity waits for its worker.
	keep = time.Minute
)

// Max bounds the concurrent calls of a table. Calls beyond it are not started: they wait in the
// common queue, like all activities beyond the worker's limit.
const Max = 1000

// Table has the calls of this process. It is safe for concurrent use.
type Table struct {
	queue   string
	noticed bool

	mu     sync.Mutex
	closed bool
	calls  map[string]*call
	tasks  map[string]map[string]*task // by conversation and run
}

// New returns a table whose calls are joined through queue. noticed means that all requests to
// conversations pass through Interceptor.
func New(queue string, noticed bool) *Table {
	return &Table{queue: queue, noticed: noticed, calls: map[string]*call{}, tasks: map[string]map[string]*task{}}
}

// Queue is the task queue of the activities that join the table's calls.
func (t *Table) Queue() string { return t.queue }

// Close hands over the calls that local activities wait for. No further calls start.
func (t *Table) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	for conversation := range t.tasks {
		t.release(conversation)
	}
}

// Release hands over the calls of a conversation: its workflow tasks are needed.
func (t *Table) Release(workflowID string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.release(conversationOf(workflowID))
}

func (t *Table) release(conversation string) {
	for _, k := range t.tasks[conversation] {
		k.release()
	}
}

// begin adds a call for a local activity. It returns nil if the table is full or closed.
func (t *Table) begin(ctx context.Context, number int) *call {
	run := activity.GetInfo(ctx).WorkflowExecution
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || len(t.calls) >= Max {
		return nil
	}
	c := newCall(ctx, rand.Text(), t.task(run, number))
	t.calls[c.id] = c
	return c
}

// take returns a call to the first activity that joins it.
func (t *Table) take(id string) *call {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.calls[id]
	if c == nil || c.taken {
		return nil
	}
	c.taken = true
	close(c.settled)
	return c
}

// remove removes a call that has ended.
func (t *Table) remove(c *call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.calls, c.id)
	if !c.taken {
		c.taken = true
		close(c.settled)
	}
}

// expire cancels a call that has not been joined.
func (t *Table) expire(c *call) {
	if t.take(c.id) != nil {
		c.cancel()
		t.remove(c)
	}
}

// AwaitJoins waits until every call has been joined or will never be, for at most the limit.
func (t *Table) AwaitJoins(limit time.Duration) {
	over := time.After(limit)
	for _, c := range t.all() {
		select {
		case <-c.settled:
		case <-over:
			return
		}
	}
}

func (t *Table) all() []*call {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Collect(maps.Values(t.calls))
}

func (t *Table) ticket(c *call) *contract.Ticket { return &contract.Ticket{Queue: t.queue, ID: c.id} }

// task is a workflow task that local activities hold.
type task struct {
	number   int
	until    time.Time
	released chan struct{}
	once     sync.Once
}

func (k *task) release() { k.once.Do(func() { close(k.released) }) }

// task returns the workflow task of a run. Its time begins with its first call.
func (t *Table) task(run workflow.Execution, number int) *task {
	conversation := conversationOf(run.ID)
	k := t.tasks[conversation][run.RunID]
	if k != nil && k.number == number {
		return k
	}
	k = &task{number: number, until: time.Now().Add(t.hold(run.ID)), released: make(chan struct{})}
	if t.tasks[conversation] == nil {
		t.tasks[conversation] = map[string]*task{}
	}
	t.tasks[conversation][run.RunID] = k
	time.AfterFunc(taskTime, func() { t.forget(conversation, run.RunID, k) })
	return k
}

func (t *Table) forget(conversation, run string, k *task) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tasks[conversation][run] != k {
		return
	}
	delete(t.tasks[conversation], run)
	if len(t.tasks[conversation]) == 0 {
		delete(t.tasks, conversation)
	}
}

// hold returns the time that a workflow task of a run is held. It is short for nodes, because
// the server delivers the completion of their children without the Interceptor.
func (t *Table) hold(workflowID string) time.Duration {
	if t.noticed && conversationOf(workflowID) == workflowID {
		return holdNoticed
	}
	return holdUnnoticed
}

// conversationOf returns the workflow ID of the conversation that a workflow belongs to.
func conversationOf(workflowID string) string {
	conversation, _, _ := strings.Cut(workflowID, "/")
	return conversation
}
