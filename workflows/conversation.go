package workflows

import (
	"cmp"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/adoption"
	"agent-stop-and-go/workflows/board"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/promptversion"
	"agent-stop-and-go/workflows/contract/title"
	"agent-stop-and-go/workflows/decide"
	"agent-stop-and-go/workflows/listing"
	"agent-stop-and-go/workflows/proof"
	"agent-stop-and-go/workflows/reset"
	"agent-stop-and-go/workflows/run"
	"agent-stop-and-go/workflows/wording"
)

// Conversation is one conversation with an agent, from its first message until it is closed.
// Its result is a summary; the conversation itself is in its file and in the query.
func Conversation(ctx workflow.Context, in contract.ConversationInput) (contract.ConversationResult, error) {
	c := newConversation(ctx, in)
	if err := c.register(ctx); err != nil {
		return contract.ConversationResult{}, err
	}
	return c.run(ctx)
}

type conversation struct {
	in           contract.ConversationInput
	state        contract.Carried
	status       contract.Status
	listedState  contract.TaskState // search attribute of the task, if it is one
	ledger       *decide.Ledger
	isLong       func() bool // reports whether the run's history is long enough for a new run
	queue        []contract.MessageSignal
	turns        int  // that began in this run
	queueCarried bool // the queue is for the next run
	pending      []openApproval
	turn         *turn // nil between turns
	closing      *closure
	reset        reset.Cleanup
	sentAnswers  []sentAnswer
	proofs       proof.Checker
	adoption     adoption.Adoption

	messages, cancels, closes, reports, questions workflow.ReceiveChannel
	follows, renames                              workflow.ReceiveChannel

	notifier      notifier
	waiters       run.Waiters
	awaits        int           // updates handled since a request was last answered
	wake          bool          // an event that no channel signals
	retry         time.Duration // until the next attempt of a failed export
	listing       listing.Listing
	signalProblem string // problem of the last message signal
	exportProblem string // why the file could not be written
}

// openApproval is a waiting approval; in a tree, with the workflow of the node that asked and
// the session state there.
type openApproval struct {
	contract.PendingApproval
	run      string
	pipeline *contract.PipelineState
}

// closure is set once the conversation is to end.
type closure struct {
	requests []string
	reason   string
	by       contract.Identity
	answer   contract.Text // answer to the requests; zero means TextClosed
	err      error         // error of the workflow: nil, or a cancellation
}

func newConversation(ctx workflow.Context, in contract.ConversationInput) *conversation {
	c := &conversation{
		in: in, status: contract.StatusActive, proofs: proof.Of(ctx), adoption: adoption.New(ctx),
		messages:  workflow.GetSignalChannel(ctx, contract.SignalMessage),
		cancels:   workflow.GetSignalChannel(ctx, contract.SignalCancel),
		closes:    workflow.GetSignalChannel(ctx, contract.SignalClose),
		reports:   workflow.GetSignalChannel(ctx, contract.SignalReport),
		questions: workflow.GetSignalChannel(ctx, contract.SignalQuestion),
		follows:   workflow.GetSignalChannel(ctx, contract.SignalFollow),
		renames:   workflow.GetSignalChannel(ctx, title.SignalRename),
	}
	if in.Carried != nil {
		c.state = *in.Carried
		c.queue, c.state.Queue = c.state.Queue, nil
		c.listedState = c.taskState()
	} else {
		c.state.CreatedAt = run.Now(ctx)
		c.state.UpdatedAt = c.state.CreatedAt
	}
	c.state.Notify = c.state.Notify || in.Notify
	c.ledger = decide.NewLedger(c.state.Requests)
	c.ledger.OnSettled = board.Poster(ctx, c.ledger.Settled, c.view)
	c.listing = listing.New(ctx)
	c.retry = exportRetryFirst
	c.isLong = func() bool { return c.longRun(ctx) }
	return c
}

func (c *conversation) register(ctx workflow.Context) error {
	err := workflow.SetQueryHandler(ctx, contract.QueryConversation, c.query)
	if err == nil {
		err = workflow.SetQueryHandler(ctx, contract.QueryPending, func() ([]contract.PendingApproval, error) {
			return c.pendingApprovals(), nil
		})
	}
	if err == nil {
		err = workflow.SetQueryHandler(ctx, contract.QueryTree, func() (contract.TreeView, error) { return c.tree(), nil })
	}
	if err == nil {
		err = c.adoption.Register(ctx, &c.in.Agent)
	}
	if err == nil {
		err = workflow.SetUpdateHandlerWithOptions(ctx, contract.UpdateAwaitSettled, c.awaitSettled,
			workflow.UpdateHandlerOptions{Validator: c.validateAwait})
	}
	if err != nil {
		return fmt.Errorf("register handlers: %w", err)
	}
	return nil
}

// run is the loop that owns the signal channels. A cancelled workflow is closed in order, so
// everything but the waiting uses a disconnected context.
func (c *conversation) run(ctx workflow.Context) (contract.ConversationResult, error) {
	work := run.Detached(ctx)
	waiting := ctx
	c.in = c.proofs.Start(work, c.in)
	c.recordStart(work)
	for {
		c.receive(work)
		switch {
		case c.turn != nil:
		case c.closing != nil || c.taskOver():
			return c.finish(work)
		case c.mayRollOver(waiting):
			if c.rollOver(work) {
				return contract.ConversationResult{}, c.continueAsNew(ctx)
			}
			continue
		}
		if err := c.wait(waiting, work); temporal.IsCanceledError(err) {
			waiting = work
			c.close(contract.CloseSignal{Reason: wording.CauseWorkflowCancelled}, err)
		}
	}
}

// recordStart writes the prompt and the first message of a new conversation.
func (c *conversation) recordStart(ctx workflow.Context) {
	if c.in.Carried != nil {
		c.show(ctx)
		return
	}
	c.state.Prompts = promptversion.Add(nil, c.in.Agent.PromptVersion, c.state.CreatedAt, "")
	if !c.in.Agent.Prompt.IsZero() {
		c.append(ctx, contract.Message{Role: contract.RoleSystem, Content: c.in.Agent.Prompt})
	}
	if c.in.First != nil {
		c.accept(ctx, *c.in.First)
	} else {
		c.publish(ctx)
	}
}

// wait blocks until there is something to do.
func (c *conversation) wait(ctx, work workflow.Context) error {
	ready := func() bool { return c.wake || c.arrived() || c.turn == nil && c.mayRollOver(ctx) }
	if !c.mayRetry(work) {
		err := workflow.Await(ctx, ready)
		c.wake = false
		return err
	}
	ok, err := workflow.AwaitWithTimeout(ctx, c.retry, ready)
	c.wake = false
	if err == nil && !ok {
		c.retry = min(2*c.retry, exportRetryMax)
		c.publish(work)
	}
	return err
}

// mayRetry reports whether a failed export may be retried: between turns, and while an approval
// waits as long as the history has room, because such a run cannot continue as new.
func (c *conversation) mayRetry(ctx workflow.Context) bool {
	return c.state.ExportOwing && (c.turn == nil || len(c.pending) > 0 && !c.longRun(ctx))
}

func (c *conversation) arrived() bool {
	return c.messages.Len()+c.cancels.Len()+c.closes.Len()+c.reports.Len()+c.questions.Len()+c.follows.Len()+c.renames.Len()+c.adoption.Len() > 0
}

// startTurn answers the oldest queued message.
func (c *conversation) startTurn(ctx workflow.Context) {
	m := c.queue[0]
	c.queue = c.queue[1:]
	c.state.Turn++
	c.turns++
	c.awaits = 0
	ctx, cancel := workflow.WithCancel(ctx)
	t := &turn{conv: c, cancel: cancel, requests: []string{m.RequestID}, credential: m.Credential}
	c.turn = t
	workflow.Go(ctx, func(ctx workflow.Context) {
		t.run(ctx, m)
		c.turn, c.wake = nil, true
	})
}

// mayRollOver reports whether the run may continue as new. A cancelled run may not: its
// successor would not know of the cancellation.
func (c *conversation) mayRollOver(ctx workflow.Context) bool {
	return ctx.Err() == nil && (c.queueCarried || len(c.queue) == 0 && c.longRun(ctx))
}

// changeQueue marks histories of runs that leave queued messages to the next run.
const changeQueue = "queue-carried"

// carriesQueue reports whether the next turn is left to the next run. Each run has at least one
// turn, and also runs a turn that is to be cancelled at once.
func (c *conversation) carriesQueue(ctx workflow.Context) bool {
	return c.turns > 0 && c.cancels.Len() == 0 && decide.RollOverTurn(c.history(ctx)) &&
		workflow.GetVersion(ctx, changeQueue, workflow.DefaultVersion, 1) >= 1
}

// longRun reports whether the history is long enough for a new run.
func (c *conversation) longRun(ctx workflow.Context) bool { return decide.RollOver(c.history(ctx)) }

func (c *conversation) history(ctx workflow.Context) decide.History {
	h := run.History(ctx)
	h.Updates = c.waiters.Seen
	return h
}

// rollOver releases the waiting updates and reports whether nothing arrived meanwhile, so that
// the run may end.
func (c *conversation) rollOver(ctx workflow.Context) bool {
	c.waiters.ReleaseAll = true
	// The context is never cancelled, so Await cannot fail.
	_ = workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) && !c.notifier.sending })
	c.waiters.ReleaseAll = false
	return !c.arrived() && (c.queueCarried || len(c.queue) == 0)
}

func (c *conversation) continueAsNew(ctx workflow.Context) error {
	c.state.Requests, c.state.Queue = c.ledger.Requests(), c.queue
	next := c.in
	next.First, next.Carried = nil, &c.state
	return workflow.NewContinueAsNewError(ctx, contract.WorkflowConversation, next)
}

// finish ends the conversation: queued messages are refused, and so are messages that arrive
// until the file is written. Callers wait no longer than for any other export.
func (c *conversation) finish(ctx workflow.Context) (contract.ConversationResult, error) {
	if c.closing == nil {
		c.closing = &closure{}
	}
	queue := c.queue
	c.queue = nil
	if c.status != contract.StatusCompleted { // else the last turn has done it
		c.setStatus(ctx, contract.StatusCompleted)
		c.publish(ctx)
	}
	for _, m := range queue {
		c.ledger.Refuse(m.RequestID, contract.KindCompleted, contract.Result{Response: contract.Inline(wording.TextCompleted)})
	}
	for {
		c.receive(ctx)
		for _, id := range c.closing.requests {
			c.ledger.Settle(id, contract.Result{Response: cmp.Or(c.closing.answer, contract.Inline(wording.TextClosed))})
		}
		c.waiters.ReleaseAll = true
		if c.state.ExportOwing && !c.longRun(ctx) {
			_ = c.wait(ctx, ctx) // the context is never cancelled
			continue
		}
		_ = workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) && !c.notifier.sending })
		if !c.arrived() {
			break
		}
	}
	r := contract.ConversationResult{
		ID: c.in.ID, Status: c.status, Messages: c.state.Transcript.Len(), Turns: c.state.Turn,
		Reason: c.closing.reason, Usage: c.state.Usage, ClosedBy: c.closing.by,
	}
	if c.state.Last != nil {
		r.Outcome = c.state.Last.Outcome
	}
	return r, c.closing.err
}
