package workflows

import (
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/credential/header"
	"agent-stop-and-go/workflows/run"
	"agent-stop-and-go/workflows/signal"
)

// notifier sends the states of a task to its Push workflow, if there is one.
type notifier struct {
	lastState contract.TaskState // in this run
	queue     []contract.PushState
	sending   bool
}

// changeNotify marks the first notification of a run: an older worker may have continued a run
// that was asked for notifications.
const changeNotify = "notify"

// receiveFollows handles requests for notifications. The current state is sent at once.
func (c *conversation) receiveFollows(ctx workflow.Context) {
	for _, ok := signal.Receive(c.follows); ok; _, ok = signal.Receive(c.follows) {
		c.state.Notify = true
		c.notifier.lastState = ""
		c.publishState(ctx, c.view())
	}
}

// publishState sends the state of the task if it differs from the last one. States arrive in
// order, because one coroutine sends them.
func (c *conversation) publishState(ctx workflow.Context, v contract.ConversationView) {
	state, n := v.TaskState(), &c.notifier
	if !c.state.Notify || state == "" || state == n.lastState ||
		workflow.GetVersion(ctx, changeNotify, workflow.DefaultVersion, 1) == workflow.DefaultVersion {
		return
	}
	n.lastState = state
	n.queue = append(n.queue, contract.PushState{State: state, Version: v.Version, ContextID: c.in.ContextID, At: run.Now(ctx)})
	if !n.sending {
		n.sending = true
		ctx = run.Detached(ctx)
		workflow.Go(header.With(ctx, ""), c.sendStates)
	}
}

// sendStates is the coroutine that sends. A missing receiver is not an error.
func (c *conversation) sendStates(ctx workflow.Context) {
	n := &c.notifier
	for len(n.queue) > 0 {
		next := n.queue[0]
		n.queue = n.queue[1:]
		id := contract.PushWorkflowID(c.in.ID)
		if err := workflow.SignalExternalWorkflow(ctx, id, "", contract.SignalTask, next).Get(ctx, nil); err != nil {
			workflow.GetLogger(ctx).Info("tell of the task's state", "error", err)
		}
	}
	n.sending = false
}
