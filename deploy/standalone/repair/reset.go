package repair

import (
	"context"
	"fmt"

	"go.temporal.io/api/workflowservice/v1"

	"agent-stop-and-go/workflows/contract"
)

// Reset resets a case that is not blocked, and sets NewRun. It looks at the workflow once more
// before: a destructive call may have been made since. Repeating it has no further effect.
func (f Finder) Reset(ctx context.Context, c *Case) error {
	f.Event = c.Event
	now, found, err := f.Examine(ctx, c.WorkflowID)
	switch {
	case err != nil:
		return err
	case !found || now.RunID != c.RunID:
		return fmt.Errorf("%s goes on by itself now", c.WorkflowID)
	case now.Blocked != "":
		*c = now
		return nil
	}
	r, err := f.Server.ResetWorkflowExecution(ctx, &workflowservice.ResetWorkflowExecutionRequest{
		Namespace: f.Namespace, WorkflowExecution: execution(*c), WorkflowTaskFinishEventId: c.Event,
		Reason:    "agent repair: " + string(c.Problem),
		RequestId: contract.NameUUID(c.RunID, fmt.Sprint("repair-", c.Event)),
	})
	if err != nil {
		return fmt.Errorf("reset %s: %w", c.WorkflowID, err)
	}
	c.NewRun = r.GetRunId()
	return nil
}
