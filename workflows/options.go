package workflows

import (
	"math"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

// The one table of timeouts and retries. A model or tool call has its own,
// shorter limit inside the activity; start-to-close only catches what hangs.
const (
	generateMargin   = 5 * time.Second // beyond the model's own time
	callToolTimeout  = 35 * time.Second
	askingTimeout    = contract.MaxQuestionTime + callToolTimeout // of a call whose server may ask something
	listToolsTimeout = 20 * time.Second
	delegateTimeout  = 10 * time.Minute // an agent of an old dialect answers only when it is done
	lookTimeout      = 90 * time.Second // the activity waits 50 seconds for news
	refuseTimeout    = 5 * time.Second  // somebody waits, and there is a Delivery for the rest
	composeTimeout   = 5 * time.Second  // blob store only
	exportTimeout    = 5 * time.Second
	notifyTimeout    = 20 * time.Second

	// A destructive call that did not reach its server is made again after 1, 2,
	// 4 and 8 seconds.
	reachFirst    = time.Second
	reachAttempts = 5

	// What another agent could not be told at once it is told again and again.
	deliverFirst   = 5 * time.Second
	deliverMax     = 10 * time.Minute
	deliverTimeout = 30 * 24 * time.Hour

	heartbeatTimeout = 20 * time.Second
	attempts         = 3

	// Export is retried by the conversation itself once these are used up.
	exportRetryFirst = 30 * time.Second
	exportRetryMax   = 10 * time.Minute

	// A webhook is tried for so long, in the end at this pace.
	notifyFor  = 24 * time.Hour
	notifyPace = 10 * time.Minute
	// The webhooks of a task that is over can be read for so long. One that is silent for
	// so long is asked whether it is still there.
	pushKept    = 24 * time.Hour
	pushSilence = 7 * 24 * time.Hour
)

// payloadTooLarge is the SDK's error for a result over the server's limit. It
// is retryable by default and would be sent again for ever.
const payloadTooLarge = "payloadSizeError"

func retries(maximum int32) *temporal.RetryPolicy {
	return &temporal.RetryPolicy{
		InitialInterval:        time.Second,
		BackoffCoefficient:     2,
		MaximumInterval:        20 * time.Second,
		MaximumAttempts:        maximum,
		NonRetryableErrorTypes: append(contract.PermanentKinds(), payloadTooLarge),
	}
}

func regular(timeout time.Duration, maximum int32, summary string) workflow.ActivityOptions {
	return workflow.ActivityOptions{
		StartToCloseTimeout: timeout,
		HeartbeatTimeout:    heartbeatTimeout,
		RetryPolicy:         retries(maximum),
		Summary:             summary,
	}
}

// deliver tries until the time is over. Attempts without a number would be ten in the
// test environment.
func deliver(summary string) workflow.ActivityOptions {
	o := regular(lookTimeout, math.MaxInt32, summary)
	o.ScheduleToCloseTimeout = deliverTimeout
	o.RetryPolicy.InitialInterval, o.RetryPolicy.MaximumInterval = deliverFirst, deliverMax
	return o
}

func lean(timeout time.Duration, summary string) workflow.LocalActivityOptions {
	return workflow.LocalActivityOptions{
		StartToCloseTimeout: timeout,
		// Without it the first attempt's timeout would also end the retries.
		ScheduleToCloseTimeout: attempts*timeout + time.Minute,
		RetryPolicy:            retries(attempts),
		Summary:                summary,
	}
}

// notifying is how a webhook is notified: until it has answered, or left is up.
func notifying(left time.Duration, summary string) workflow.ActivityOptions {
	policy := retries(0)
	policy.MaximumInterval = notifyPace
	return workflow.ActivityOptions{
		StartToCloseTimeout: notifyTimeout, ScheduleToCloseTimeout: left, RetryPolicy: policy,
		WaitForCancellation: true, Summary: summary,
	}
}

func export() workflow.LocalActivityOptions {
	o := lean(exportTimeout, wording.SummaryExport)
	o.ScheduleToCloseTimeout = 2 * exportTimeout
	return o
}

// awaitFor waits for a time that the Web UI shows under a name.
func awaitFor(d time.Duration, summary string) workflow.AwaitOptions {
	return workflow.AwaitOptions{Timeout: d, TimerOptions: workflow.TimerOptions{Summary: summary}}
}
