package workflows

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

// conclude remembers how the turn has ended. One that was stopped wants nobody to log in.
func (t *turn) conclude(ctx workflow.Context, r contract.NodeResult, result contract.Result) {
	last := contract.LastTurn{
		Turn: t.state.Turn, Outcome: t.outcome(r), Response: result.Response, EndedAt: now(ctx), AuthRequired: r.AuthRequired,
	}
	if t.stopped {
		last.AuthRequired = ""
	}
	t.state.Last = &last
	switch {
	case t.closing != nil:
	case t.in.Task && t.stopped, t.taskOver(): // what is still queued is refused
		t.closing = &closing{reason: t.why}
		t.setStatus(ctx, contract.StatusCompleted)
	default:
		t.setStatus(ctx, t.status)
	}
}

// taskOver reports whether the conversation is a task that has been done: nothing is
// left to be answered, and nobody has to log in first.
func (c *conversation) taskOver() bool {
	return c.in.Task && c.state.Last != nil && c.state.Last.AuthRequired == "" && len(c.queue)+c.messages.Len() == 0
}

// cancelIdle cancels a task that nobody is at work on. One that has been done stays
// done.
func (c *conversation) cancelIdle(ctx workflow.Context, request string, s contract.CancelSignal) {
	text := contract.Inline(wording.TurnCancelled(s.Reason))
	if last := c.state.Last; last == nil || last.AuthRequired != "" || len(c.queue) > 0 {
		c.state.Last = &contract.LastTurn{Turn: c.state.Turn, Outcome: contract.OutcomeCancelled, Response: text, EndedAt: now(ctx)}
	}
	c.closing = &closing{reason: s.Reason, requests: []string{request}, answer: text}
}

// taskState is the conversation as the state of a task.
func (c *conversation) taskState() contract.TaskState {
	return contract.ConversationView{
		Status: c.status, Pending: c.pendingApprovals(), Running: c.running() && len(c.pending) == 0,
		Queued: len(c.queue), Last: c.state.Last,
	}.TaskState()
}

// setStatus changes the status, and with it what tasks are found by: their state
// when they begin to wait, when they go on, and when they end.
func (c *conversation) setStatus(ctx workflow.Context, s contract.Status) {
	var updates []temporal.SearchAttributeUpdate
	if c.status != s {
		c.status = s
		updates = append(updates, attrStatus.ValueSet(string(s)))
	}
	if state := c.taskState(); c.in.Task && (len(updates) > 0 || c.listed != state && c.loginTurns(state)) {
		c.listed = state
		updates = append(updates, attrTaskState.ValueSet(string(state)))
	}
	if len(updates) == 0 {
		return
	}
	if err := workflow.UpsertTypedSearchAttributes(ctx, updates...); err != nil {
		workflow.GetLogger(ctx).Error("upsert search attributes", "error", err)
	}
}

// loginTurns reports whether a task begins to wait for somebody to log in, or goes on
// after that. Its conversation is active all the while.
func (c *conversation) loginTurns(state contract.TaskState) bool {
	return state == contract.TaskAuthRequired || c.listed == contract.TaskAuthRequired
}
