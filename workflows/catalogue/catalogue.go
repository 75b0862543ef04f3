package catalogue

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/activity"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

const listTimeout = 20 * time.Second

// Catalogue lists the tools, resources or prompts of a worker, and its problems.
func Catalogue(ctx workflow.Context, in contract.ListToolsInput) (contract.CatalogueResult, error) {
	return activity.Run(ctx, contract.ActivityListTools, activity.Options(listTimeout, activity.Attempts, wording.SummaryListTools), in)
}
