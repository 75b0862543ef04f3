package activity

import (
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
)

// Run executes an activity by its typed reference and waits for it.
func Run[In, Out any](ctx workflow.Context, a contract.Activity[In, Out], o workflow.ActivityOptions, in In) (Out, error) {
	var out Out
	err := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, o), a.Name, in).Get(ctx, &out)
	return out, err
}

// RunLocal executes an activity inside the worker that holds the workflow.
func RunLocal[In, Out any](ctx workflow.Context, a contract.Activity[In, Out], o workflow.LocalActivityOptions, in In) (Out, error) {
	var out Out
	err := workflow.ExecuteLocalActivity(workflow.WithLocalActivityOptions(ctx, o), a.Name, in).Get(ctx, &out)
	return out, err
}
