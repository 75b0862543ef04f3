package rotation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"agent-stop-and-go/config/encryption"
	"agent-stop-and-go/deploy/standalone/executions"
	"agent-stop-and-go/workflows/contract/switches"
)

// Server is the part of client.Client that is used here. It must not decrypt.
type Server interface {
	ListWorkflow(ctx context.Context, r *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error)
	DescribeWorkflowExecution(ctx context.Context, workflowID, runID string) (*workflowservice.DescribeWorkflowExecutionResponse, error)
	GetWorkflowHistory(ctx context.Context, workflowID, runID string, isLongPoll bool, filter enumspb.HistoryEventFilterType) client.HistoryEventIterator
	SignalWorkflow(ctx context.Context, workflowID, runID, signal string, arg any) error
}

var _ Server = client.Client(nil)

// Rotation is about the key that is to be removed.
type Rotation struct {
	Server    Server
	Namespace string
	Key       string // its ID
}

// Need is the runs of one type of workflows that need the key.
type Need struct {
	Type    string `json:"type"`
	Running int    `json:"running"`
	Closed  int    `json:"closed"`
	// Example is the workflow ID of one of them, of one that runs if there is any.
	Example string `json:"example"`
}

// Needs lists what needs the key in all histories of the namespace, running and closed. The closed
// runs of the Control do not count: the one that runs has all that they had.
func (r Rotation) Needs(ctx context.Context) ([]Need, error) {
	found := map[string]Need{}
	for info, err := range executions.List(ctx, r.Server, r.Namespace, "") {
		if err != nil {
			return nil, err
		}
		running := info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
		at, kind := info.GetExecution(), info.GetType().GetName()
		if kind == switches.Workflow && !running {
			continue
		}
		needs, err := r.needs(ctx, at.GetWorkflowId(), at.GetRunId())
		if err != nil {
			return nil, err
		}
		if needs {
			found[kind] = found[kind].with(kind, at.GetWorkflowId(), running)
		}
	}
	var out []Need
	for _, n := range found {
		out = append(out, n)
	}
	slices.SortFunc(out, func(a, b Need) int { return cmp.Compare(a.Type, b.Type) })
	return out, nil
}

// with counts a run.
func (n Need) with(kind, workflowID string, running bool) Need {
	n.Type = kind
	if n.Example == "" || running && n.Running == 0 {
		n.Example = workflowID
	}
	if running {
		n.Running++
	} else {
		n.Closed++
	}
	return n
}

// needs reports whether a run needs the key. One that is gone meanwhile needs none.
func (r Rotation) needs(ctx context.Context, workflowID, runID string) (bool, error) {
	events := r.Server.GetWorkflowHistory(ctx, workflowID, runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		if isNotFound(err) {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("read the history of %s: %w", workflowID, err)
		}
		ids, err := encryption.KeyIDs(ctx, event)
		if err != nil || slices.Contains(ids, r.Key) {
			return err == nil, err
		}
	}
	return false, nil
}

// RenewControl has the Control begin a run without the key, if the present one needs it. It waits
// until a worker has done so.
func (r Rotation) RenewControl(ctx context.Context) error {
	run, needs, err := r.control(ctx)
	if err != nil || !needs {
		return err
	}
	if err := r.Server.SignalWorkflow(ctx, switches.WorkflowID, run, switches.SignalRenew, nil); err != nil {
		return fmt.Errorf("signal the control: %w", err)
	}
	closes := r.Server.GetWorkflowHistory(ctx, switches.WorkflowID, run, true, enumspb.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT)
	for closes.HasNext() {
		if _, err := closes.Next(); err != nil {
			return fmt.Errorf("wait for a worker that renews the control: %w", err)
		}
	}
	if _, needs, err = r.control(ctx); needs {
		return fmt.Errorf("a worker or gateway still encrypts with the key %q: put another one first in all files, and restart all processes", r.Key)
	}
	return err
}

// control returns the run of the Control, and whether it needs the key. One that does not run needs
// none.
func (r Rotation) control(ctx context.Context) (run string, needs bool, err error) {
	d, err := r.Server.DescribeWorkflowExecution(ctx, switches.WorkflowID, "")
	info := d.GetWorkflowExecutionInfo()
	switch {
	case isNotFound(err):
		return "", false, nil
	case err != nil:
		return "", false, fmt.Errorf("describe the control: %w", err)
	case info.GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING:
		return "", false, nil
	}
	run = info.GetExecution().GetRunId()
	needs, err = r.needs(ctx, switches.WorkflowID, run)
	return run, needs, err
}

func isNotFound(err error) bool {
	var none *serviceerror.NotFound
	return errors.As(err, &none)
}
