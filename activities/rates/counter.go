package rates

import (
	"context"
	"errors"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/workflows/attribute"
	"agent-stop-and-go/workflows/contract/rates"
)

// Workflows counts with the client of the activity that asks.
type Workflows struct {
	// TaskQueue is that of the agent.
	TaskQueue string
}

var _ Counter = Workflows{}

// attempts are those of an update: the workflow may complete, or begin a new run, meanwhile. A key
// counts once, so an attempt may follow one whose answer was lost.
const attempts = 3

// Take implements Counter.
func (w Workflows) Take(ctx context.Context, id string, in rates.Input, takes []rates.Take) (out []rates.Outcome, err error) {
	for range attempts {
		if out, err = w.take(ctx, id, in, takes); err == nil || ctx.Err() != nil || isRefusal(err) {
			return out, err
		}
	}
	return nil, err
}

var errOutside = errors.New("only an activity can count")

func isRefusal(err error) bool { return errors.As(err, new(*temporal.ApplicationError)) }

func (w Workflows) take(ctx context.Context, id string, in rates.Input, takes []rates.Take) (out []rates.Outcome, err error) {
	if !activity.IsActivity(ctx) {
		return nil, errOutside
	}
	c := activity.GetClient(ctx)
	o := client.StartWorkflowOptions{
		ID: id, TaskQueue: w.TaskQueue,
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		StaticSummary:            "calls that count for a rate limit",
		TypedSearchAttributes:    temporal.NewSearchAttributes(attribute.AgentName.ValueSet(in.Agent)),
	}
	handle, err := c.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: c.NewWithStartWorkflowOperation(o, rates.Workflow, in),
		UpdateOptions: client.UpdateWorkflowOptions{
			WorkflowID: id, UpdateName: rates.UpdateTake, Args: []any{takes}, WaitForStage: client.WorkflowUpdateStageCompleted,
		},
	})
	if err == nil {
		err = handle.Get(ctx, &out)
	}
	return out, err
}

// Return implements Counter.
func (w Workflows) Return(ctx context.Context, id, key string) error {
	return activity.GetClient(ctx).SignalWorkflow(ctx, id, "", rates.SignalReturn, key)
}
