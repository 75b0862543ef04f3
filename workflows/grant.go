package workflows

import (
	"errors"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

// changedGrant is what a failure says of a call that was not made because it would go
// elsewhere, or to another tool, than was approved. No history from before has one.
func changedGrant(err error) (contract.Changed, bool) {
	var app *temporal.ApplicationError
	var now contract.Changed
	if !errors.As(err, &app) || contract.Kind(app.Type()) != contract.KindChanged || app.Details(&now) != nil {
		return contract.Changed{}, false
	}
	return now, true
}

// regrant asks a human whether a call is made where it would go now. If so, the call is
// bound to that.
func (l *leaf) regrant(ctx workflow.Context, c *call, now contract.Changed) contract.ApprovalResult {
	description := wording.DescribeChanged(c.Call, l.nameInTree(), now.Difference)
	in := l.approvalFor(ctx, *c, description, contract.ReasonChanged)
	in.Granted, in.Binding = c.Binding, &now.Binding
	if now.Whole.Blob != nil {
		in.Explanation = now.Whole
	}
	r := l.await(ctx, in)
	if r.Decision == contract.Approved {
		c.Binding = &now.Binding
	}
	return r
}
