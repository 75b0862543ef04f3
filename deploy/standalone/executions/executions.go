// Package executions lists the runs of workflows for the commands of operators.
package executions

import (
	"context"
	"fmt"
	"iter"

	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
)

// page is how many runs the server returns at once.
const page = 200

// Lister is the part of client.Client that is used here.
type Lister interface {
	ListWorkflow(ctx context.Context, r *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error)
}

// List yields the runs that a query of Temporal's visibility selects; an empty one selects all. An
// error ends it.
func List(ctx context.Context, server Lister, namespace, query string) iter.Seq2[*workflowpb.WorkflowExecutionInfo, error] {
	return func(yield func(*workflowpb.WorkflowExecutionInfo, error) bool) {
		r := &workflowservice.ListWorkflowExecutionsRequest{Namespace: namespace, PageSize: page, Query: query}
		for {
			found, err := server.ListWorkflow(ctx, r)
			if err != nil {
				yield(nil, fmt.Errorf("list workflows: %w", err))
				return
			}
			for _, info := range found.GetExecutions() {
				if !yield(info, nil) {
					return
				}
			}
			if r.NextPageToken = found.GetNextPageToken(); len(r.NextPageToken) == 0 {
				return
			}
		}
	}
}
