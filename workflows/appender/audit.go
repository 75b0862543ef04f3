package appender

import (
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/activity"
	"agent-stop-and-go/workflows/contract/audit"
	"agent-stop-and-go/workflows/run"
	"agent-stop-and-go/workflows/signal"
)

const (
	writeTimeout = 20 * time.Second
	retryFirst   = time.Second
	retryMax     = 15 * time.Second
	// maxHistory is the number of events after which a run continues as new.
	maxHistory = 4000
	// maxWaiting is the number of events after which it does whatever waits, and maxCarried how much of
	// that is carried over, in bytes: inputs of workflows are bounded, and so are histories.
	maxWaiting = 5 * maxHistory
	maxCarried = 1 << 20
)

// Registry is what the workflow is registered with: a worker, a replayer or a test environment.
type Registry interface {
	RegisterWorkflowWithOptions(w any, o workflow.RegisterOptions)
}

// Register registers the workflow.
func Register(r Registry) {
	r.RegisterWorkflowWithOptions(Audit, workflow.RegisterOptions{Name: audit.Workflow})
}

// Audit appends to the log, for ever. A cancellation changes nothing.
func Audit(ctx workflow.Context, in audit.Input) error {
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	a := &appender{head: in.Head, recent: in.Recent, states: in.States, witnesses: in.Witnesses, known: map[string]bool{}, queued: map[string]bool{}}
	a.signals = workflow.GetSignalChannel(ctx, audit.SignalAppend)
	if a.states == nil {
		a.states = map[string]string{}
	}
	for _, id := range in.Recent {
		a.known[id] = true
	}
	for _, l := range in.Queue {
		a.enqueue(l)
	}
	if err := a.register(ctx); err != nil {
		return err
	}
	a.show(ctx)
	a.cosign(ctx)
	for !a.mayRollOver(ctx) && !a.mustRollOver(ctx) {
		if err := workflow.Await(ctx, func() bool { return a.signals.Len() > 0 || len(a.queue) > 0 || a.mayRollOver(ctx) }); err != nil {
			return err
		}
		a.drain()
		if len(a.queue) > 0 {
			if err := a.flush(ctx); err != nil {
				return err
			}
		}
	}
	queue := a.carried(ctx)
	for _, l := range a.queue { // what is not in the log is not set, also if it is lost
		if name, _, ok := l.State(); ok {
			delete(a.states, name)
		}
	}
	return workflow.NewContinueAsNewError(ctx, audit.Workflow, audit.Input{Head: a.head, Queue: queue, Recent: a.recent, States: a.states, Witnesses: a.witnesses})
}

type appender struct {
	head   audit.Head
	queue  []audit.Leaf
	queued map[string]bool // IDs in queue
	recent []string
	known  map[string]bool // IDs in recent
	states map[string]string

	// witnesses are what they have signed, and cosigning is set while they are asked.
	witnesses []audit.Witnessed
	cosigning bool

	problem  string
	since    time.Time
	failures int // attempts that failed since the last success

	signals workflow.ReceiveChannel
}

func (a *appender) register(ctx workflow.Context) error {
	if err := workflow.SetQueryHandler(ctx, audit.QueryAudit, a.view); err != nil {
		return fmt.Errorf("register query: %w", err)
	}
	err := workflow.SetUpdateHandlerWithOptions(ctx, audit.UpdateAppend, a.update, workflow.UpdateHandlerOptions{Validator: a.validate})
	if err != nil {
		return fmt.Errorf("register update: %w", err)
	}
	return nil
}

func (a *appender) view() (audit.View, error) {
	return audit.View{Head: a.head, Queued: len(a.queue), Problem: a.problem, Since: a.since, Witnesses: a.witnesses}, nil
}

// mayRollOver reports whether the run is long. What waits because the log cannot be written is
// carried over.
func (a *appender) mayRollOver(ctx workflow.Context) bool {
	return run.IsLong(ctx, maxHistory) && a.signals.Len() == 0 && (len(a.queue) == 0 || a.failures > 0 && len(a.queue) <= audit.MaxQueue) && workflow.AllHandlersFinished(ctx)
}

// changeFull marks histories in which a long run ends although the queue is full.
const changeFull = "audit-continues-with-a-full-queue"

// mustRollOver reports whether the run is so long that it ends whatever waits.
func (a *appender) mustRollOver(ctx workflow.Context) bool {
	if workflow.GetInfo(ctx).GetCurrentHistoryLength() <= maxWaiting || workflow.GetVersion(ctx, changeFull, workflow.DefaultVersion, 1) < 1 {
		return false
	}
	a.drain()
	return workflow.AllHandlersFinished(ctx)
}

// carried returns what the next run begins with: the oldest leaves that fit. The log of the worker
// gets the others.
func (a *appender) carried(ctx workflow.Context) []audit.Leaf {
	size := 0
	for i, l := range a.queue {
		line, _ := l.Line() // of a leaf in the queue it does not fail
		if size += len(line) + 1; size > maxCarried {
			for _, lost := range a.queue[i:] {
				line, _ := lost.Line()
				workflow.GetLogger(ctx).Error("the audit log could not be written for too long: it will not have this leaf", "leaf", string(line))
			}
			return a.queue[:i]
		}
	}
	return a.queue
}

func (a *appender) validate(_ workflow.Context, e audit.Entries) error {
	if len(a.queue)+len(e.Await)+len(e.Then) > audit.MaxQueue {
		return temporal.NewNonRetryableApplicationError(a.unwritten(), string(audit.KindBusy), nil)
	}
	return nil
}

// update appends the leaves that are awaited, and then the others.
func (a *appender) update(ctx workflow.Context, e audit.Entries) (audit.Head, error) {
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	a.drain() // what was sent before comes before
	for _, l := range e.Await {
		a.enqueue(l)
	}
	durable := func() bool {
		return !slices.ContainsFunc(e.Await, func(l audit.Leaf) bool { return a.queued[l.ID] })
	}
	failures := a.failures
	err := workflow.Await(ctx, func() bool { return durable() || a.problem != "" && (failures > 0 || a.failures > failures) })
	if err != nil {
		return a.head, err
	}
	if !durable() || a.problem != "" { // while the log cannot be written, nothing begins
		return a.head, temporal.NewNonRetryableApplicationError(a.unwritten(), string(audit.KindUnwritten), nil)
	}
	for _, l := range e.Then {
		a.enqueue(l)
	}
	return a.head, nil
}

func (a *appender) unwritten() string {
	if a.problem == "" {
		return "too many events wait for the audit log"
	}
	return "the audit log cannot be written: " + a.problem
}

// drain takes all signals that have arrived.
func (a *appender) drain() {
	for raw, ok := signal.Receive(a.signals); ok; raw, ok = signal.Receive(a.signals) {
		for _, l := range signal.Optional[[]audit.Leaf](raw) {
			a.enqueue(l)
		}
	}
}

// enqueue adds a leaf, unless it is there, or sets what is set.
func (a *appender) enqueue(l audit.Leaf) {
	if _, err := l.Line(); err != nil || a.known[l.ID] || a.queued[l.ID] {
		return
	}
	if name, value, ok := l.State(); ok {
		if a.states[name] == value || len(a.states) >= audit.MaxStates && a.states[name] == "" {
			return
		}
		a.states[name] = value
	}
	a.queue = append(a.queue, l)
	a.queued[l.ID] = true
}

// flush writes the oldest leaves. After a failure it waits a little.
func (a *appender) flush(ctx workflow.Context) error {
	batch := slices.Clone(a.queue[:min(len(a.queue), audit.MaxBatch)])
	o := activity.LocalOptions(writeTimeout, fmt.Sprintf("%d leaves", len(batch)))
	o.ScheduleToCloseTimeout, o.RetryPolicy = writeTimeout, &temporal.RetryPolicy{MaximumAttempts: 1}
	head, err := activity.RunLocal(ctx, audit.ActivityAppend, o, audit.Batch{Leaves: batch, After: a.head})
	if err != nil {
		return a.failed(ctx, err)
	}
	a.head = head
	a.signed()
	a.queue = slices.Clone(a.queue[len(batch):])
	for _, l := range batch {
		delete(a.queued, l.ID)
		a.known[l.ID] = true
		a.recent = append(a.recent, l.ID)
	}
	if n := len(a.recent) - audit.MaxRecent; n > 0 {
		for _, id := range a.recent[:n] {
			delete(a.known, id)
		}
		a.recent = slices.Clone(a.recent[n:])
	}
	if a.failures > 0 {
		workflow.GetLogger(ctx).Info("the audit log can be written again", "leaves", a.head.Size)
	}
	a.problem, a.since, a.failures = "", time.Time{}, 0
	a.show(ctx)
	a.cosign(ctx)
	return nil
}

// failed waits before the next attempt.
func (a *appender) failed(ctx workflow.Context, err error) error {
	problem := activity.Failure(err).Message
	a.unsigned(ctx, err)
	if a.failures == 0 {
		a.since = workflow.Now(ctx).UTC()
		workflow.GetLogger(ctx).Error("the audit log cannot be written: destructive calls wait", "error", problem)
	}
	a.failures++
	a.problem = problem
	a.show(ctx)
	return workflow.Sleep(ctx, min(retryFirst<<min(a.failures-1, 10), retryMax))
}

// show tells people, in the details.
func (a *appender) show(ctx workflow.Context) {
	text := fmt.Sprintf("The audit log `%s` has %d leaves.", a.head.Origin, a.head.Size)
	if a.head.Witness != "" {
		text += "\n\nThe witness has not signed the last of them: " + a.head.Witness
	}
	for _, w := range a.witnesses {
		if w.Problem != "" {
			text += fmt.Sprintf("\n\nThe witness `%s` has signed %d of them: %s", w.Name, w.Size, w.Problem)
		}
	}
	if a.problem != "" {
		text = fmt.Sprintf("**The audit log cannot be written** since %s: %s\n\nDestructive calls wait until it can be. %d leaves wait.", a.since.Format(time.DateTime), a.problem, len(a.queue))
	}
	workflow.SetCurrentDetails(ctx, text)
}
