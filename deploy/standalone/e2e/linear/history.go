package linear

import (
	"math"
	"slices"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

// Op is what was done.
type Op string

// The operations. Those without a Result are never refused.
const (
	See     Op = "see"     // an approval is seen waiting, for the first time
	Decide  Op = "decide"  // Who decides an approval, in the place of For if that is set
	Expire  Op = "expire"  // the time of an approval is over
	Appoint Op = "appoint" // For appoints Who
	Revoke  Op = "revoke"  // For revokes Who
	Read    Op = "read"    // the record of an approval is read
	Run     Op = "run"     // the call reaches the tool
)

// Result is an answer.
type Result string

// The results. Of Decide: Done, Decided if another decision counts, Forbidden. Lost, of every
// operation, means that no answer came: it was done, or not, or will be. What is Unsent is in no history.
const (
	Done      Result = "done"
	Decided   Result = "decided"
	Forbidden Result = "forbidden"
	Lost      Result = "lost"
	Unsent    Result = "unsent"
)

// Input is an operation.
type Input struct {
	Op       Op
	Approval string // UUID
	Who, For string
	Approves bool
	// Escalated: the approval that is seen asks those of the escalation.
	Escalated bool
}

// Output is what its client was told.
type Output struct {
	Result Result
	Record Record // of Read
}

// Record is an outcome of an approval. Decision is that of contract.Decision, "" if it waits.
type Record struct{ Decision, By, For string }

// History is what the clients of a call have recorded. It is safe for concurrent use.
type History struct {
	begin time.Time

	mu  sync.Mutex
	all []porcupine.Operation
}

// NewHistory returns an empty history, which begins now.
func NewHistory() *History { return &History{begin: time.Now()} }

// Do records an operation while f executes it. What may take effect later than its answer, because that
// is Lost, has no end.
func (h *History) Do(client int, in Input, f func() Output) Output {
	call := time.Now()
	out := f()
	end := time.Now()
	h.Add(client, in, out, call, end)
	return out
}

// Add records an operation between two times.
func (h *History) Add(client int, in Input, out Output, call, end time.Time) {
	if out.Result == Unsent {
		return
	}
	o := porcupine.Operation{ClientId: client, Input: in, Output: out, Call: int64(call.Sub(h.begin)), Return: int64(end.Sub(h.begin))}
	if out.Result == Lost {
		o.Return = math.MaxInt64
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, o)
	if in.Op == Decide && in.For != "" && out.Result == Done {
		// The deputy is looked up before the decision is made. One that is revoked between has decided.
		in.Op = lookUp
		o.Input = in
		h.all = append(h.all, o)
	}
}

// Operations returns a copy of what is recorded.
func (h *History) Operations() []porcupine.Operation {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.all)
}
