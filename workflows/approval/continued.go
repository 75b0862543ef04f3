package approval

import (
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

// changeContinued marks histories in which the description of a delegation says what it continues. The length of a
// text may determine when messages are offloaded.
const changeContinued = "say-what-a-delegation-continues"

// Continued returns the description of an approval with what the delegation continues, if it continues something.
func Continued(ctx workflow.Context, in contract.ApprovalInput, description string) string {
	if in.Continues == nil || workflow.GetVersion(ctx, changeContinued, workflow.DefaultVersion, 1) < 1 {
		return description
	}
	return wording.Continued(description, *in.Continues)
}
