package workflows

import (
	"math"
	"time"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/activity"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

// The one table of timeouts and retries. A model or tool call has its own, shorter limit inside
// the activity; start-to-close only ends activities that hang.
const (
	generateMargin  = 5 * time.Second // beyond the model's own time
	callToolTimeout = 35 * time.Second
	askingTimeout   = contract.MaxQuestionTime + callToolTimeout // of a call whose server may ask
	delegateTimeout = 10 * time.Minute                           // agents of an old dialect answer only when they are done
	lookTimeout     = 90 * time.Second                           // the activity waits up to 50 seconds for a change
	refuseTimeout   = 5 * time.Second                            // callers wait; a Delivery retries
	composeTimeout  = 5 * time.Second                            // blob store only
	exportTimeout   = 5 * time.Second

	// A destructive call that did not reach its server is repeated after 1, 2, 4 and 8
	// seconds.
	reachFirst    = time.Second
	reachAttempts = 5

	// Messages to another agent that could not be delivered at once.
	deliverFirst   = 5 * time.Second
	deliverMax     = 10 * time.Minute
	deliverTimeout = 30 * 24 * time.Hour

	// Export is retried by the conversation itself once these are used up.
	exportRetryFirst = 30 * time.Second
	exportRetryMax   = 10 * time.Minute
)

// deliveryOptions retries until the time is up. Without a maximum the test environment would
// make ten attempts.
func deliveryOptions(summary string) workflow.ActivityOptions {
	o := activity.Options(lookTimeout, math.MaxInt32, summary)
	o.ScheduleToCloseTimeout = deliverTimeout
	o.RetryPolicy.InitialInterval, o.RetryPolicy.MaximumInterval = deliverFirst, deliverMax
	return o
}

func exportOptions() workflow.LocalActivityOptions {
	o := activity.LocalOptions(exportTimeout, wording.SummaryExport)
	o.ScheduleToCloseTimeout = 2 * exportTimeout
	return o
}
