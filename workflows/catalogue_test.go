package workflows_test

import (
	"context"
	"testing"

	"go.temporal.io/sdk/activity"

	"agent-stop-and-go/workflows/contract"
)

func TestTheCatalogueIsWhatAWorkerLists(t *testing.T) {
	want := contract.CatalogueResult{Body: contract.JSON{Raw: []byte(`{"tools":[]}`)}}
	seen := &recorder{}
	env := environment(seen)
	tries := 0
	env.RegisterActivityWithOptions(func(context.Context, contract.ListToolsInput) (contract.CatalogueResult, error) {
		if tries++; tries == 1 {
			return contract.CatalogueResult{}, fails(contract.KindBlob, "store down")
		}
		return want, nil
	}, activity.RegisterOptions{Name: contract.ActivityListTools.Name})
	env.ExecuteWorkflow(contract.WorkflowCatalogue, contract.ListToolsInput{})
	var got contract.CatalogueResult
	if err := env.GetWorkflowResult(&got); err != nil {
		t.Fatal(err)
	}
	same(t, "catalogue", got, want)
	same(t, "attempts", tries, 2)
	same(t, "summary", seen.options("list_tools").Summary, "what is on offer")
}
