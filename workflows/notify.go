package workflows

import (
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
)

// notifier tells the Push workflow of a conversation how it fares, if it is to be told.
type notifier struct {
	told    contract.TaskState // in this run
	news    []contract.PushNews
	sending bool
}

// changeNotify marks the first news of a run: a worker that knew no push notifications
// may have carried a run on that was asked for them.
const changeNotify = "notify"

// receiveFollows takes signals that ask for news. The present state is told at once.
func (c *conversation) receiveFollows(ctx workflow.Context) {
	for _, ok := receive(c.follows); ok; _, ok = receive(c.follows) {
		c.state.Notify = true
		c.notifier.told = ""
		c.tell(ctx, c.view())
	}
}

// tell sends the state of the task if it is another one than the last. States arrive in
// order, because one coroutine sends them.
func (c *conversation) tell(ctx workflow.Context, v contract.ConversationView) {
	state, n := v.TaskState(), &c.notifier
	if !c.state.Notify || state == "" || state == n.told ||
		workflow.GetVersion(ctx, changeNotify, workflow.DefaultVersion, 1) == workflow.DefaultVersion {
		return
	}
	n.told = state
	n.news = append(n.news, contract.PushNews{State: state, Version: v.Version, ContextID: c.in.ContextID, At: now(ctx)})
	if !n.sending {
		n.sending = true
		ctx, _ = workflow.NewDisconnectedContext(ctx)
		workflow.Go(withCredential(ctx, ""), c.sendNews)
	}
}

// sendNews is the coroutine that sends. Nobody may be there to hear it.
func (c *conversation) sendNews(ctx workflow.Context) {
	n := &c.notifier
	for len(n.news) > 0 {
		next := n.news[0]
		n.news = n.news[1:]
		id := contract.PushWorkflowID(c.in.ID)
		if err := workflow.SignalExternalWorkflow(ctx, id, "", contract.SignalTask, next).Get(ctx, nil); err != nil {
			workflow.GetLogger(ctx).Info("tell of the task's state", "error", err)
		}
	}
	n.sending = false
}
