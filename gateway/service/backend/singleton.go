package backend

import (
	"context"
	"crypto/rand"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
)

// singleton is a workflow of which one runs under a fixed ID, and which starts with its first change.
type singleton struct{ id, taskQueue, workflow, summary string }

func (s singleton) options() client.StartWorkflowOptions {
	return client.StartWorkflowOptions{
		ID: s.id, TaskQueue: s.taskQueue, StaticSummary: s.summary,
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
	}
}

// memo returns a value of the memo, nil if the workflow does not run or has none.
func (s singleton) memo(ctx context.Context, t *Temporal, key string) (*commonpb.Payload, error) {
	d, err := t.client.DescribeWorkflowExecution(ctx, s.id, "")
	info := d.GetWorkflowExecutionInfo()
	switch {
	case isNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fault(err, "describe the workflow "+s.id)
	case !isOpen(info.GetStatus()):
		return nil, nil
	}
	return info.GetMemo().GetFields()[key], nil
}

// update sends a change, proven, as an update. It returns what that returns in out, which may be nil.
func (s singleton) update(ctx context.Context, t *Temporal, name string, input, change, out any) error {
	change, err := t.proven(s.id, name, change)
	if err != nil {
		return err
	}
	u := update{name: name, id: rand.Text()}
	return t.asking(ctx, func(ctx context.Context) error {
		handle, err := t.client.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
			StartWorkflowOperation: t.client.NewWithStartWorkflowOperation(s.options(), s.workflow, input),
			UpdateOptions: client.UpdateWorkflowOptions{
				WorkflowID: s.id, UpdateID: u.id, UpdateName: u.name, Args: []any{change}, WaitForStage: client.WorkflowUpdateStageCompleted,
			},
		})
		if err == nil {
			err = handle.Get(ctx, out)
		}
		return err
	})
}
