package gateway_test

import (
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	querypb "go.temporal.io/api/query/v1"
	"go.temporal.io/sdk/client"

	"agent-stop-and-go/workflows/contract"
)

// A run that continues as new between being found and being queried has not ended.
func TestWebhooksAreReadOfTheNextRun(t *testing.T) {
	asked := 0
	b := onTemporal(t, &fakeClient{QueryFn: func(*client.QueryWorkflowWithOptionsRequest) (*client.QueryWorkflowWithOptionsResponse, error) {
		if asked++; asked == 1 {
			return &client.QueryWorkflowWithOptionsResponse{QueryRejected: &querypb.QueryRejected{Status: enumspb.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW}}, nil
		}
		return queried(contract.PushView{Configs: []contract.PushConfig{{ID: "c1", URL: "https://example.com"}}})
	}}).Backend
	list, err := b.PushConfigs(t.Context(), someID)
	if err != nil || len(list) != 1 || asked != 2 {
		t.Errorf("%v, %v after %d questions", list, err, asked)
	}
}
