package workflows

import (
	"errors"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/difference"
	"agent-stop-and-go/workflows/wording"
)

// changedTarget returns the change of a call that was not made because its server or tool
// differs from the approved one. Old histories have no such failure.
func changedTarget(err error) (difference.TargetChange, bool) {
	var app *temporal.ApplicationError
	var now difference.TargetChange
	if !errors.As(err, &app) || contract.Kind(app.Type()) != contract.KindChanged || app.Details(&now) != nil {
		return difference.TargetChange{}, false
	}
	return now, true
}

// approveChange asks a person whether a call is made to the changed target. If so, the call is
// bound to that.
func (l *leaf) approveChange(ctx workflow.Context, c *call, now difference.TargetChange) contract.ApprovalResult {
	description := wording.DescribeChanged(c.Call, l.nameInTree(), now.Difference)
	in := l.approvalFor(ctx, *c, description, contract.ReasonChanged)
	in.Granted, in.Binding = c.Binding, &now.Binding
	if now.Whole.Blob != nil {
		in.Explanation = now.Whole
	}
	r := l.awaitApproval(ctx, &in)
	if r.Decision == contract.Approved {
		c.Binding = &now.Binding
	}
	return *r
}
