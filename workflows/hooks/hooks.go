// Package hooks is the workflow Hook, which tells the web hooks of an agent one event of an
// approval. It outlives the approval, which has started it and does not wait for it: a web hook that
// does not answer delays nothing, and is tried for a day.
//
// Which web hooks there are is read when it starts, in an activity: what is configured when the
// event happens counts.
package hooks

import (
	"errors"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/activity"
	"agent-stop-and-go/workflows/attribute"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/hooks"
	"agent-stop-and-go/workflows/run"
	"agent-stop-and-go/workflows/wording"
)

const (
	sendTimeout = 20 * time.Second
	// How long a web hook is tried, and the longest interval between attempts.
	sendFor  = 24 * time.Hour
	sendPace = 10 * time.Minute
)

// Registry is what the workflow is registered with: a worker, a replayer or a test environment.
type Registry interface {
	RegisterWorkflowWithOptions(w any, o workflow.RegisterOptions)
}

// Register registers the workflow.
func Register(r Registry) {
	r.RegisterWorkflowWithOptions(Hook, workflow.RegisterOptions{Name: hooks.Workflow})
}

// Hook sends a message to every web hook that is configured for its event.
func Hook(ctx workflow.Context, in hooks.Input) (hooks.Result, error) {
	selected, err := activity.Run(ctx, hooks.ActivitySelect, options("web hooks for "+string(in.Message.Type)), hooks.SelectInput{Event: in.Message.Type})
	if err != nil {
		return hooks.Result{}, err
	}
	out := hooks.Result{Told: make([]hooks.Told, len(selected.Hooks))}
	group := workflow.NewWaitGroup(ctx)
	for i, hook := range selected.Hooks {
		group.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer group.Done()
			_, err := activity.Run(ctx, hooks.ActivitySend, options(string(in.Message.Type)+" to "+hook), hooks.SendInput{Hook: hook, Input: in})
			out.Told[i] = hooks.Told{Hook: hook, Problem: problem(err)}
			if err != nil {
				workflow.GetLogger(ctx).Warn("a web hook was not told", "hook", hook, "event", in.ID, "error", problem(err))
			}
		})
	}
	group.Wait(ctx)
	return out, nil
}

func options(summary string) workflow.ActivityOptions {
	policy := activity.RetryPolicy(0)
	policy.MaximumInterval = sendPace
	return workflow.ActivityOptions{
		StartToCloseTimeout: sendTimeout, ScheduleToCloseTimeout: sendFor, RetryPolicy: policy, Summary: summary,
	}
}

// problem prefers the failure of the last attempt to the timeout of all attempts.
func problem(err error) string {
	var last *temporal.ApplicationError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &last):
		return last.Message()
	}
	return activity.Failure(err).Message
}

// Tell starts the workflow for an event of an approval. It does not wait: started is settled when
// the event will be told whatever becomes of the workflow that calls it.
func Tell(ctx workflow.Context, in contract.ApprovalInput, e hooks.Event, number int, r *contract.ApprovalResult) (started workflow.Future) {
	id := hooks.EventID(in.UUID, e, number)
	ctx = workflow.WithChildOptions(run.Detached(ctx), workflow.ChildWorkflowOptions{
		WorkflowID: hooks.WorkflowID(in.UUID, e, number), ParentClosePolicy: enumspb.PARENT_CLOSE_POLICY_ABANDON,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		StaticSummary:         string(e) + ": " + wording.ToolSummary(in.Tool, in.Server),
		TypedSearchAttributes: temporal.NewSearchAttributes(attribute.AgentName.ValueSet(in.AgentName), attribute.ConversationID.ValueSet(in.ConversationID)),
	})
	m := hooks.Message{Type: e, Timestamp: run.Now(ctx), Data: hooks.Of(in, wording.ApprovalSummary(in), r)}
	return workflow.ExecuteChildWorkflow(ctx, hooks.Workflow, hooks.Input{ID: id, Message: m}).GetChildWorkflowExecution()
}
