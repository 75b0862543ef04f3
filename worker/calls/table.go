package calls

import (
	"crypto/rand"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/expirable"
	"go.temporal.io/sdk/activity"

	"agent-stop-and-go/workflows/contract/ticket"
)

const (
	// holdNoticed is the time that a workflow task is held if all requests to its conversation
	// pass through the Interceptor; holdUnnoticed is the time otherwise.
	holdNoticed   = 1500 * time.Millisecond
	holdUnnoticed = 100 * time.Millisecond
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
	tasks   *WorkflowTasks
	noticed bool // requests to conversations pass through the Interceptor of tasks

	mu     sync.Mutex
	once   bool // calls that must not be repeated may be started here
	closed bool
	calls  map[string]*call
	// recent has the calls of the last moments, also those that have ended, by run and by the local
	// activity that started them: those of workflow tasks that may be done again.
	recent   *expirable.LRU[string, map[string]*call]
	taskTime time.Duration
}

// New returns a table whose calls are joined through queue. tasks is nil if the server is
// another process.
func New(queue string, tasks *WorkflowTasks) *Table {
	t := &Table{
		queue: queue, tasks: tasks, noticed: tasks != nil, calls: map[string]*call{},
		recent: expirable.NewLRU[string, map[string]*call](Max, nil, taskTime), taskTime: taskTime,
	}
	if tasks == nil {
		t.tasks = NewWorkflowTasks()
	}
	t.tasks.tell(t)
	return t
}

// ClaimsCalls says that calls which must not be repeated are claimed before they are sent, so that
// no other attempt sends them. They start in local activities then, in a process that sees all
// requests to its conversations.
func (t *Table) ClaimsCalls() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.once = t.noticed
}

func (t *Table) startsOnce() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.once
}

// Queue is the task queue of the activities that join the table's calls.
func (t *Table) Queue() string { return t.queue }

// Close hands over the calls that local activities wait for. No further calls start.
func (t *Table) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	t.tasks.releaseAll()
	t.tasks.leave(t)
}

// begin adds a call for a local activity. It returns nil if the table is full or closed. If the
// activity has been started before, because its workflow task is done again, its call is
// returned, and made is true.
func (t *Table) begin(info activity.Info, number int, input any) (c *call, made bool) {
	run := info.WorkflowExecution
	key := info.ActivityID + " " + info.ActivityType.Name
	t.mu.Lock()
	defer t.mu.Unlock()
	ofRun, ok := t.recent.Get(run.RunID)
	if c := ofRun[key]; c != nil && reflect.DeepEqual(c.input, input) {
		return c, true
	}
	if t.closed || len(t.calls) >= Max {
		return nil, false
	}
	c = newCall(rand.Text(), t.tasks.hold(run, number, t.limit(run.ID)))
	c.input = input
	t.calls[c.id] = c
	if !ok {
		ofRun = map[string]*call{}
	}
	maps.DeleteFunc(ofRun, func(_ string, old *call) bool { return old.hasEnded() && c.began.Sub(old.began) > t.taskTime })
	ofRun[key] = c
	t.recent.Add(run.RunID, ofRun)
	return c, false
}

// complete forgets the calls of a run that have ended, up to a workflow task that is complete: what
// came of them is in the history.
func (t *Table) complete(runID string, number int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	ofRun, ok := t.recent.Peek(runID)
	maps.DeleteFunc(ofRun, func(_ string, c *call) bool { return c.task.number <= number && c.hasEnded() })
	if ok && len(ofRun) == 0 {
		t.recent.Remove(runID)
	}
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

func (t *Table) ticket(c *call) *ticket.Ticket { return &ticket.Ticket{Queue: t.queue, ID: c.id} }

// limit returns the time that a workflow task of a run is held. It is short for nodes, because
// the server delivers the completion of their children without the Interceptor.
func (t *Table) limit(workflowID string) time.Duration {
	if t.noticed && conversationOf(workflowID) == workflowID {
		return holdNoticed
	}
	return holdUnnoticed
}
