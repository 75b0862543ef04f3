package workflows

import (
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

// Catalogue asks a worker what tools it has and what is missing, or what
// resources or prompts. It is how the gateway knows, which itself talks to no
// model and no tool.
func Catalogue(ctx workflow.Context, in contract.ListToolsInput) (contract.CatalogueResult, error) {
	return run(ctx, contract.ActivityListTools, regular(listToolsTimeout, attempts, wording.SummaryListTools), in)
}
