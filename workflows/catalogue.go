package workflows

import (
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/activity"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

// Catalogue lists the tools, resources or prompts of a worker, and its problems. The gateway
// uses it, because it connects to no model and no tool itself.
func Catalogue(ctx workflow.Context, in contract.ListToolsInput) (contract.CatalogueResult, error) {
	return activity.Run(ctx, contract.ActivityListTools, activity.Options(listToolsTimeout, activity.Attempts, wording.SummaryListTools), in)
}
