package workflows

import (
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/attribute"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/run"
	"agent-stop-and-go/workflows/wording"
)

// recordEnd records the outcome of the turn. A stopped turn requires no login.
func (t *turn) recordEnd(ctx workflow.Context, r contract.NodeResult, result contract.Result) {
	last := contract.LastTurn{
		Turn: t.conv.state.Turn, Outcome: t.outcome(r), Response: result.Response, EndedAt: run.Now(ctx), AuthRequired: r.AuthRequired,
	}
	if t.stopped {
		last.AuthRequired = ""
	}
	t.conv.state.Last = &last
	switch {
	case t.conv.closing != nil:
	case t.conv.in.Task && t.stopped, t.conv.taskOver(): // queued messages are refused
		t.conv.closing = &closure{reason: t.stopReason, by: t.stoppedBy}
		t.conv.setStatus(ctx, contract.StatusCompleted)
	default:
		t.conv.setStatus(ctx, t.conv.status)
	}
}

// taskOver reports whether the conversation is a task that is done: no message is left to
// answer, and no login is required.
func (c *conversation) taskOver() bool {
	return c.in.Task && c.state.Last != nil && c.state.Last.AuthRequired == "" && len(c.queue)+c.messages.Len() == 0
}

// cancelIdle cancels a task without a running turn. A task that is done keeps its outcome.
func (c *conversation) cancelIdle(ctx workflow.Context, request string, s contract.CancelSignal) {
	text := contract.Inline(wording.TurnCancelled(s.Reason))
	if last := c.state.Last; last == nil || last.AuthRequired != "" || len(c.queue) > 0 {
		c.state.Last = &contract.LastTurn{Turn: c.state.Turn, Outcome: contract.OutcomeCancelled, Response: text, EndedAt: run.Now(ctx)}
	}
	c.closing = &closure{reason: s.Reason, by: s.Identity, requests: []string{request}, answer: text}
}

// taskState returns the state of the conversation as a task.
func (c *conversation) taskState() contract.TaskState {
	return contract.ConversationView{
		Status: c.status, Pending: c.pendingApprovals(), Running: c.running() && len(c.pending) == 0,
		Queued: len(c.queue), Last: c.state.Last,
	}.TaskState()
}

// setStatus changes the status and the search attribute of a task's state, when it starts to
// wait, continues, or ends.
func (c *conversation) setStatus(ctx workflow.Context, s contract.Status) {
	var updates []temporal.SearchAttributeUpdate
	if c.status != s {
		c.status = s
		updates = append(updates, attribute.Status.ValueSet(string(s)))
	}
	if state := c.taskState(); c.in.Task && (len(updates) > 0 || c.listedState != state && c.loginStateChanges(state)) {
		c.listedState = state
		updates = append(updates, attribute.TaskState.ValueSet(string(state)))
	}
	if len(updates) == 0 {
		return
	}
	if err := workflow.UpsertTypedSearchAttributes(ctx, updates...); err != nil {
		workflow.GetLogger(ctx).Error("upsert search attributes", "error", err)
	}
}

// loginStateChanges reports whether a task starts or stops waiting for a login. Its
// conversation stays active meanwhile.
func (c *conversation) loginStateChanges(state contract.TaskState) bool {
	return state == contract.TaskAuthRequired || c.listedState == contract.TaskAuthRequired
}
