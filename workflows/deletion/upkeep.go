package deletion

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/activity"
	"agent-stop-and-go/workflows/contract/deletion"
)

// upkeepTimeout is the time of one attempt at a whole step over all conversations.
const upkeepTimeout = 12 * time.Hour

// Upkeep deletes old conversations, and collects values.
func Upkeep(ctx workflow.Context, in deletion.UpkeepInput) (out deletion.UpkeepResult, err error) {
	out.Expired, err = activity.Run(ctx, deletion.ActivityExpire, activity.Options(upkeepTimeout, activity.Attempts, "delete old conversations"), in)
	if err != nil || !in.Collect {
		return out, err
	}
	collected, err := activity.Run(ctx, deletion.ActivityCollect, activity.Options(upkeepTimeout, activity.Attempts, "collect stored values"), in)
	out.Collected = &collected
	return out, err
}
