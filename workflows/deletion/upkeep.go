package deletion

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/activity"
	"agent-stop-and-go/workflows/contract/deletion"
)

const (
	// upkeepTimeout is the time of one attempt at a whole step over all conversations.
	upkeepTimeout = 12 * time.Hour
	// upkeepAttempts are enough for a server that restarts, for some minutes.
	upkeepAttempts = 12
)

// Upkeep deletes old conversations, marks the values that the others refer to, and collects the
// values that nobody has marked.
func Upkeep(ctx workflow.Context, in deletion.UpkeepInput) (out deletion.UpkeepResult, err error) {
	out.Expired, err = activity.Run(ctx, deletion.ActivityExpire, activity.Options(upkeepTimeout, upkeepAttempts, "delete old conversations"), in)
	if err != nil || !in.Mark && !in.Collect {
		return out, err
	}
	marked, err := activity.Run(ctx, deletion.ActivityMark, activity.Options(upkeepTimeout, upkeepAttempts, "mark the stored values in use"), in)
	if err != nil {
		return out, err
	}
	if out.Marked = &marked; !in.Collect {
		return out, nil
	}
	collected, err := activity.Run(ctx, deletion.ActivityCollect, activity.Options(upkeepTimeout, upkeepAttempts, "collect the other stored values"), in)
	out.Collected = &collected
	return out, err
}
