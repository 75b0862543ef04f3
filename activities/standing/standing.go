// Package standing gives standing grants and takes uses of them, with the client of the activity that
// asks. The workflow Grants (package grants of workflows) keeps and counts them.
package standing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/workflows/attribute"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/approvers"
	"agent-stop-and-go/workflows/contract/grant"
	"agent-stop-and-go/workflows/contract/standing"
)

// Book is the grants of the agent with a task queue.
type Book struct {
	Agent, TaskQueue string
	// Approvers are the rules of who may decide approvals of the agent; see package approvers.
	Approvers []string
	// Client is that of the activity; tests have another.
	Client func(context.Context) (Client, error)
}

// Client is the part of a Temporal client that grants need.
type Client interface {
	DescribeWorkflow(ctx context.Context, workflowID, runID string) (*client.WorkflowExecutionDescription, error)
	UpdateWorkflow(ctx context.Context, o client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error)
	NewWithStartWorkflowOperation(o client.StartWorkflowOptions, workflow any, args ...any) client.WithStartWorkflowOperation
	UpdateWithStartWorkflow(ctx context.Context, o client.UpdateWithStartWorkflowOptions) (client.WorkflowUpdateHandle, error)
}

var _ Client = client.Client(nil)

// useTimeout bounds what a call waits for. After it the call asks.
const useTimeout = 5 * time.Second

var errOutside = errors.New("only an activity can use standing grants")

func (b *Book) client(ctx context.Context) (Client, error) {
	switch {
	case b.Client != nil:
		return b.Client(ctx)
	case !activity.IsActivity(ctx):
		return nil, errOutside
	}
	return activity.GetClient(ctx), nil
}

// Use takes a use of a grant that covers a call, of the narrowest scope first; nil if none does.
func (b *Book) Use(ctx context.Context, call standing.Call) (*grant.Use, error) {
	c, err := b.client(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, useTimeout)
	defer cancel()
	index, err := b.index(ctx, c)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	call.Agent, call.Approvers = b.Agent, approvers.Required(call.Asks, b.Approvers)
	covering := slices.DeleteFunc(index.Grants, func(e standing.Entry) bool { return !e.Covers(call, now) })
	slices.SortStableFunc(covering, func(x, y standing.Entry) int {
		return slices.Index(grant.Scopes(), x.Scope) - slices.Index(grant.Scopes(), y.Scope)
	})
	for _, e := range covering {
		use, err := b.take(ctx, c, standing.Take{ID: e.ID, Key: call.Key, Conversation: call.Conversation})
		if err != nil || use != nil {
			return use, err
		}
	}
	return nil, nil
}

// index reads the memo. Without a workflow there are no grants.
func (b *Book) index(ctx context.Context, c Client) (i standing.Index, err error) {
	d, err := c.DescribeWorkflow(ctx, standing.WorkflowID(b.TaskQueue), "")
	var none *serviceerror.NotFound
	switch {
	case errors.As(err, &none):
		return i, nil
	case err != nil:
		return i, fmt.Errorf("read the standing grants: %w", err)
	case d.Status != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING && d.Status != enumspb.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW:
		return i, nil
	}
	if p := d.Memo.GetFields()[standing.Memo]; p != nil {
		if err := converter.GetDefaultDataConverter().FromPayload(p, &i); err != nil { // of another encryption key: nothing is granted
			return standing.Index{}, nil
		}
	}
	return i, nil
}

// take returns nil if the grant has ended meanwhile.
func (b *Book) take(ctx context.Context, c Client, t standing.Take) (*grant.Use, error) {
	handle, err := c.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: standing.WorkflowID(b.TaskQueue), UpdateName: standing.UpdateUse, Args: []any{t}, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	var use grant.Use
	if err == nil {
		err = handle.Get(ctx, &use)
	}
	var refused *temporal.ApplicationError
	switch {
	case errors.As(err, &refused) && contract.Kind(refused.Type()) == contract.KindNotFound:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("count the use of a standing grant: %w", err)
	}
	return &use, nil
}

// Give gives a grant. It starts the workflow if there is none.
func (b *Book) Give(ctx context.Context, g standing.Giving) (struct{}, error) {
	c, err := b.client(ctx)
	if err != nil {
		return struct{}{}, err
	}
	o := client.StartWorkflowOptions{
		ID: standing.WorkflowID(b.TaskQueue), TaskQueue: b.TaskQueue,
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		StaticSummary:            "approvals that count for later calls, too",
		TypedSearchAttributes:    temporal.NewSearchAttributes(attribute.AgentName.ValueSet(b.Agent)),
	}
	handle, err := c.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: c.NewWithStartWorkflowOperation(o, standing.Workflow, standing.Input{}),
		UpdateOptions: client.UpdateWorkflowOptions{
			WorkflowID: o.ID, UpdateName: standing.UpdateGive, Args: []any{g}, WaitForStage: client.WorkflowUpdateStageCompleted,
		},
	})
	if err == nil {
		err = handle.Get(ctx, nil)
	}
	return struct{}{}, err
}
