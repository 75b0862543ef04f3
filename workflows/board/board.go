package board

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"agent-stop-and-go/workflows/contract"
)

const (
	// patience is how long Await waits for an outcome that does not come.
	patience = 10 * time.Second
	// maxExpected and expiry bound the expectations that nobody waits for.
	maxExpected = 1000
	expiry      = time.Minute
	// maxTasks bounds the workflow tasks that a worker has at a time.
	maxTasks = 10_000
)

// Board passes outcomes. It is safe for concurrent use. A nil Board expects nothing.
type Board struct {
	mu       sync.Mutex
	expected map[string]*expectation       // by request ID
	order    []*expectation                // oldest first
	tasks    *lru.Cache[string, delivered] // by token
	drafts   *lru.Cache[string, []*post]   // of one workflow task, by run
	changes  func(workflowID string) uint64
}

// expectation is a request whose outcome a gateway wants.
type expectation struct {
	request      string
	at           time.Time
	conversation string        // that Await waits for, or ""
	outcome      *posted       // nil until the request has settled
	wake         chan struct{} // of the Await that waits, or nil
}

// task is a workflow task: its run, and the event with which it has started.
type task struct {
	run    string
	number int64
}

// delivered is a workflow task that the worker has, and what was counted of its workflow by then.
type delivered struct {
	task
	changes uint64
}

// post is what a workflow task has settled. It is a draft until the server has accepted the task.
type post struct {
	task    task
	request string
	outcome json.RawMessage // a contract.AwaitResult
	current bool            // the conversation has not changed since
}

// posted is the outcome of a request.
type posted struct {
	outcome json.RawMessage
	view    *View
}

// View says that the conversation of an outcome is as it is there, unless something has happened to it
// since the workflow task began that came to the outcome.
type View struct {
	Changes uint64 // that were counted by then
	Bytes   int    // of the outcome
}

// New returns an empty Board. changes counts what happens to a workflow, in the connection below the
// Interceptor of the Board.
func New(changes func(workflowID string) uint64) *Board {
	return &Board{expected: map[string]*expectation{}, tasks: bounded[delivered](), drafts: bounded[[]*post](), changes: changes}
}

func bounded[V any]() *lru.Cache[string, V] {
	c, err := lru.New[string, V](maxTasks)
	if err != nil {
		panic(err) // the size is positive
	}
	return c
}

// Expect has the outcome of a request kept for Await. It comes before the request is sent, and
// the request must be new: an outcome that a request has had before does not come again.
func (b *Board) Expect(request string) {
	if b == nil || request == "" {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	for len(b.order) > 0 && (len(b.order) == maxExpected || now.Sub(b.order[0].at) > expiry) {
		b.drop(b.order[0])
		b.order = b.order[1:]
	}
	if earlier := b.expected[request]; earlier != nil {
		b.drop(earlier)
	}
	e := &expectation{request: request, at: now}
	b.expected[request], b.order = e, append(b.order, e)
}

// Forget ends an expectation: the request was not carried out, or was sent before.
func (b *Board) Forget(request string) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if e := b.expected[request]; e != nil {
		b.drop(e)
	}
}

// abandon ends the expectations of a conversation that may not settle any more.
func (b *Board) abandon(workflowID string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.order {
		if e.conversation != "" && contract.ConversationWorkflowID(e.conversation) == workflowID {
			b.drop(e)
		}
	}
}

// drop ends an expectation. An Await that waits for it gives up.
func (b *Board) drop(e *expectation) {
	if b.expected[e.request] == e {
		delete(b.expected, e.request)
	}
	e.notify()
}

func (e *expectation) notify() {
	if e.wake == nil {
		return
	}
	select {
	case e.wake <- struct{}{}:
	default: // it will look anyway
	}
}

// Await waits until one of the requests to a conversation has settled. It returns false if no outcome
// is to be waited for, or none comes in time: then the conversation is to be asked. view is nil if the
// conversation has changed in the workflow task that came to the outcome.
func (b *Board) Await(ctx context.Context, conversationID string, requests []string) (result contract.AwaitResult, view *View, ok bool) {
	if b == nil {
		return result, nil, false
	}
	wake := make(chan struct{}, 1)
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		outcome, all := b.look(conversationID, requests, wake)
		switch {
		case outcome != nil:
			ok = json.Unmarshal(outcome.outcome, &result) == nil && result.Conversation.ID == conversationID
			return result, outcome.view, ok
		case !all:
			return result, nil, false
		}
		select {
		case <-wake:
		case <-late.C:
			return result, nil, false
		case <-ctx.Done():
			return result, nil, false
		}
	}
}

// look takes the first outcome that there is, or has wake notified of one. It reports whether all
// requests are expected.
func (b *Board) look(conversationID string, requests []string, wake chan struct{}) (outcome *posted, all bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range requests {
		e := b.expected[id]
		switch {
		case e == nil:
			return nil, false
		case e.outcome != nil:
			delete(b.expected, id)
			outcome, e.outcome = e.outcome, nil // order keeps e
			return outcome, true
		}
		e.conversation, e.wake = conversationID, wake
	}
	return nil, len(requests) > 0
}
