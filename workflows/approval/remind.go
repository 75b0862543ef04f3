package approval

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/hooks"
	"agent-stop-and-go/workflows/contract/reminder"
	"agent-stop-and-go/workflows/run"
)

// deadline returns when the approval expires or reminds next, and false if neither happens.
func (a *approval) deadline() (time.Time, bool) {
	next := a.in.ExpiresAt()
	if a.reminded < len(a.in.Remind) {
		if at := a.in.CreatedAt.Add(a.in.Remind[a.reminded]); next == nil || at.Before(*next) {
			next = &at
		}
	}
	if next == nil {
		return time.Time{}, false
	}
	return *next, true
}

// isExpired reports whether the time of the approval is over. Without reminders nothing else ends a
// wait.
func (a *approval) isExpired(ctx workflow.Context) bool {
	at := a.in.ExpiresAt()
	return at != nil && (len(a.in.Remind) == 0 || !workflow.Now(ctx).Before(*at))
}

// remind records a reminder: in the view and the memo, for lists, and with the workflow that asks,
// for the readers of the conversation. Of several that are due, because no worker ran, the last
// one counts.
func (a *approval) remind(ctx workflow.Context) {
	due := a.in.Remind.Due(workflow.Now(ctx).Sub(a.in.CreatedAt))
	if due <= a.reminded { // a timer that fires early
		return
	}
	a.reminded = due
	r := reminder.Reminder{Number: due, Of: len(a.in.Remind), At: run.Now(ctx), Tool: a.in.Tool, Since: a.in.CreatedAt}
	a.view.Reminded = append(a.view.Reminded, r.At)
	if err := workflow.UpsertMemo(ctx, map[string]any{reminder.Memo: a.view.Reminded}); err != nil { // never: it can be encoded
		workflow.GetLogger(ctx).Error("upsert the memo", "error", err)
	}
	a.show(ctx)
	a.tell(ctx, hooks.Reminded, due)
	if parent := workflow.GetInfo(ctx).ParentWorkflowExecution; parent != nil {
		// Nobody waits for it: a workflow that has ended needs no reminder.
		workflow.SignalExternalWorkflow(run.Detached(ctx), parent.ID, "", contract.SignalQuestion, contract.QuestionSignal{UUID: a.in.UUID, Reminder: &r})
	}
}
