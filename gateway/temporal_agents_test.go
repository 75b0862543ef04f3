package gateway_test

import (
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/workflows/contract"
)

// Agents may share a namespace, and "alice" with a key of one is not "alice" with a key of the
// other.
func TestCallersSeeNothingOfAnotherAgent(t *testing.T) {
	for queue, want := range map[string]int{"queue-1": 200, "queue-2": 404} {
		a := onTemporal(t, &fakeClient{
			DescribeFn: func(string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
				d := described(enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, nil)
				d.WorkflowExecutionInfo.TaskQueue = queue
				d.WorkflowExecutionInfo.SearchAttributes.IndexedFields = payloads(map[string]any{
					contract.AttrAgentOwner: person("alice").Key(), contract.AttrConversationID: someID,
				})
				return d, nil
			},
			QueryFn: func(r *client.QueryWorkflowWithOptionsRequest) (*client.QueryWorkflowWithOptionsResponse, error) {
				if r.QueryType == contract.QueryApproval {
					return queried(contract.ApprovalView{Pending: contract.PendingApproval{UUID: someUUID, ConversationID: someID}})
				}
				return queried(viewOf(someID))
			},
		}, func(d *gateway.Deps) { d.Callers = badgesOnly })
		for _, path := range []string{"/conversations/" + someID, "/approvals/" + someUUID} {
			for _, caller := range []string{"alice", "sees all", "does all"} {
				a.want(want, a.do("GET", path, "", badge(identities[caller])))
			}
		}
	}
}
