package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
	"agent-stop-and-go/workflows/wording"
)

// host is the workflow that a leaf runs in: the conversation, or a composite
// node.
type host interface {
	// about says whose work this is. It does not change.
	about() about
	// spent is what others have spent and been granted.
	spent(ctx workflow.Context, l *leaf) contract.Spent
	// opened makes a started approval visible everywhere.
	opened(ctx workflow.Context, l *leaf, in contract.ApprovalInput)
	// decided takes note of a decision.
	decided(ctx workflow.Context, l *leaf, r contract.ApprovalResult)
	// changed takes note that something can be seen that could not be before.
	changed(ctx workflow.Context)
}

// about is what every call and approval of a turn says of its origin.
type about struct {
	conversation string
	session      string
	agent        contract.Agent
	configHash   string
	clientTools  contract.JSON // that came with the message
	chain        []string      // of agents through which the work has come
}

// leaf is an llm or a2a node at work. Cancelling its context stops it at the
// next step; a destructive call that is under way is seen through first.
type leaf struct {
	host
	*journal
	node   contract.Node
	path   []int
	inTree bool           // there are nodes around it: its texts carry its name
	values contract.State // the session state, with the user's message
	state  *contract.NodeState
	// credential is the sealed token of who asked, and approvers has those of who
	// approved a call, by the call's message (credentials.go).
	credential string
	approvers  map[string]string

	rounds  int
	clock   stopwatch
	fallen  int                      // which of the models of its route is asked
	said    *contract.GenerateResult // the last reply, until a message has told of it
	repair  *contract.Repair         // of the last reply, which did not fit its schema
	granted contract.Grants
	flights []*flight      // calls under way whose server may ask something
	reset   *aftermath     // of the workflow
	scope   string         // the turn and the node, the same after a reset
	made    map[string]int // destructive calls that are alike
}

// run does the node's work. Its result has neither Transcript nor Tree, which
// the host has already.
func (l *leaf) run(ctx workflow.Context, budget time.Duration) contract.NodeResult {
	l.state.Status, l.state.StartedAt = contract.NodeRunning, now(ctx)
	l.changed(ctx)
	l.clock.start(ctx)
	working := l.clock.limit(ctx, budget)
	l.warnEmpty(ctx)
	var r contract.NodeResult
	if l.node.Type == contract.NodeA2A {
		r = l.hand(working)
	} else {
		r = l.answer(working)
	}
	r.Worked, r.Usage, r.Credential, r.Granted = l.clock.stop(ctx), l.state.Usage, l.credential, l.granted
	finish(ctx, l.state, r)
	return decide.Settle(l.node, decide.Counted(l.node, r))
}

// finish notes in a node's state how it ended.
func finish(ctx workflow.Context, s *contract.NodeState, r contract.NodeResult) {
	s.Status, s.EndedAt, s.Output, s.Usage = contract.NodeStatus(r.Outcome), now(ctx), r.Output, r.Usage
	s.Approvals = nil
}

// interrupted is the result of a leaf whose context has ended.
func (l *leaf) interrupted() contract.NodeResult {
	if l.clock.expired {
		return ended(contract.OutcomeFailed, wording.TimedOut(l.clock.budget))
	}
	return ended(contract.OutcomeCancelled, wording.TextStopped)
}

func ended(o contract.Outcome, text string) contract.NodeResult {
	return contract.NodeResult{Outcome: o, Output: contract.Inline(text)}
}

// stopwatch measures how long a leaf works. Waiting for people does not count.
type stopwatch struct {
	budget  time.Duration
	expired bool
	over    bool
	asking  int
	since   time.Time // of work, while nobody is asked
	worked  time.Duration
}

func (s *stopwatch) start(ctx workflow.Context) { s.since = workflow.Now(ctx) }

func (s *stopwatch) stop(ctx workflow.Context) time.Duration {
	s.over = true
	return s.elapsed(ctx)
}

func (s *stopwatch) elapsed(ctx workflow.Context) time.Duration {
	if s.asking > 0 {
		return s.worked
	}
	return s.worked + workflow.Now(ctx).Sub(s.since)
}

// pause stops the clock while a person is asked.
func (s *stopwatch) pause(ctx workflow.Context) (resume func()) {
	s.worked = s.elapsed(ctx)
	s.asking++
	return func() {
		if s.asking--; s.asking == 0 {
			s.since = workflow.Now(ctx)
		}
	}
}

// limit returns a context that ends when the budget is used up. Zero is for
// ever.
func (s *stopwatch) limit(ctx workflow.Context, budget time.Duration) workflow.Context {
	if budget <= 0 {
		return ctx
	}
	s.budget = budget
	ctx, cancel := workflow.WithCancel(ctx)
	workflow.Go(ctx, func(ctx workflow.Context) {
		for !s.over {
			left := max(budget-s.elapsed(ctx), time.Millisecond)
			stopped, err := workflow.AwaitWithOptions(ctx, awaitFor(left, wording.SummaryTimeLimit), func() bool { return s.over || s.asking > 0 })
			if err == nil && !stopped {
				s.expired = true
				cancel()
			}
			if err != nil || !stopped {
				return
			}
			if workflow.Await(ctx, func() bool { return s.over || s.asking == 0 }) != nil {
				return
			}
		}
	})
	return ctx
}
