package deletion

import (
	"context"
	"errors"
	"iter"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
)

// server is the Temporal server of an activity.
type server struct {
	client    client.Client
	namespace string
	taskQueue string
}

func serverOf(ctx context.Context) server {
	info := activity.GetInfo(ctx)
	return server{activity.GetClient(ctx), info.Namespace, info.TaskQueue}
}

// describe returns a workflow, or nil if there is none.
func (s server) describe(ctx context.Context, id string) (*workflowpb.WorkflowExecutionInfo, error) {
	d, err := s.client.DescribeWorkflowExecution(ctx, id, "")
	if isNotFound(err) {
		return nil, nil
	}
	return d.GetWorkflowExecutionInfo(), err
}

// list returns the workflows that a visibility query finds.
func (s server) list(ctx context.Context, query string) iter.Seq2[*workflowpb.WorkflowExecutionInfo, error] {
	return func(yield func(*workflowpb.WorkflowExecutionInfo, error) bool) {
		req := &workflowservice.ListWorkflowExecutionsRequest{Namespace: s.namespace, PageSize: 200, Query: query}
		for {
			page, err := s.client.ListWorkflow(ctx, req)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, e := range page.GetExecutions() {
				if !yield(e, nil) {
					return
				}
			}
			if req.NextPageToken = page.GetNextPageToken(); len(req.NextPageToken) == 0 {
				return
			}
		}
	}
}

// history returns the events of a run. That it is gone meanwhile is the end of its events.
func (s server) history(ctx context.Context, e *commonpb.WorkflowExecution, f enumspb.HistoryEventFilterType) iter.Seq2[*historypb.HistoryEvent, error] {
	return func(yield func(*historypb.HistoryEvent, error) bool) {
		events := s.client.GetWorkflowHistory(ctx, e.GetWorkflowId(), e.GetRunId(), false, f)
		for events.HasNext() {
			event, err := events.Next()
			if isNotFound(err) || !yield(event, err) || err != nil {
				return
			}
		}
	}
}

// remove removes a run, with its row in lists. One that runs is terminated.
func (s server) remove(ctx context.Context, e *commonpb.WorkflowExecution) error {
	_, err := s.client.WorkflowService().DeleteWorkflowExecution(ctx, &workflowservice.DeleteWorkflowExecutionRequest{
		Namespace: s.namespace, WorkflowExecution: e,
	})
	if isNotFound(err) {
		return nil
	}
	return err
}

func isNotFound(err error) bool {
	var gone *serviceerror.NotFound
	return errors.As(err, &gone)
}

func runs(e *workflowpb.WorkflowExecutionInfo) bool {
	return e.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
}

// textOf decodes a text from a memo or a search attribute, or returns "".
func textOf(p *commonpb.Payload) string {
	var s string
	if p == nil || converter.GetDefaultDataConverter().FromPayload(p, &s) != nil {
		return ""
	}
	return s
}
