package deletion

import (
	"math"
	"time"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/activity"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
	"agent-stop-and-go/workflows/proof"
)

// stepTimeout is the time of one attempt at a step, each of which sends heartbeats.
const stepTimeout = 10 * time.Minute

// Deletion deletes a conversation. A refusal is a result, not an error.
func Deletion(ctx workflow.Context, in deletion.Input) (deletion.Result, error) {
	if in.Identity.Authenticated() && !proof.Of(ctx).Check(ctx, deletion.Workflow, in.Claim(), in.Proof) {
		in.Identity, in.By = contract.Identity{}, ""
	}
	in.Proof = ""
	ended, err := activity.Run(ctx, deletion.ActivityEnd, options("end the conversation"), in)
	if err != nil || ended.Refused != "" {
		return deletion.Result{Refused: ended.Refused}, err
	}
	out, err := activity.Run(ctx, deletion.ActivityBury, options("write the tombstone"), in)
	if err != nil || out.Refused != "" {
		return out, err
	}
	_, err = activity.Run(ctx, deletion.ActivityErase, options("remove the rest"), *out.Tombstone)
	return out, err
}

func options(summary string) workflow.ActivityOptions {
	o := activity.Options(stepTimeout, math.MaxInt32, summary)
	o.RetryPolicy.MaximumInterval = time.Minute
	return o
}
