package gateway_test

import (
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
)

// The server may end the wait for a deletion before the gateway does.
func TestADeletionGoesOnAfterTheReply(t *testing.T) {
	a := onTemporal(t, &fakeClient{
		DescribeFn: func(string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
			return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{
				TaskQueue: "queue-1", Status: enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED,
			}}, nil
		},
		ExecuteFn: func(client.StartWorkflowOptions, any, []any) (client.WorkflowRun, error) {
			return fakeRun{encoded: encoded{err: serviceerror.NewDeadlineExceeded("context deadline exceeded")}}, nil
		},
	})
	reply := a.want(202, a.do("DELETE", "/conversations/"+someID, ""))
	if reply.text("status") != "running" {
		t.Errorf("got %s", reply.raw)
	}
}
