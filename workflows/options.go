package workflows

import (
	"math"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/handover"
	"agent-stop-and-go/workflows/wording"
)

// The one table of timeouts and retries. A model or tool call has its own, shorter limit inside
// the activity; start-to-close only ends activities that hang.
const (
	generateMargin   = 5 * time.Second // beyond the model's own time
	callToolTimeout  = 35 * time.Second
	askingTimeout    = contract.MaxQuestionTime + callToolTimeout // of a call whose server may ask
	listToolsTimeout = 20 * time.Second
	delegateTimeout  = 10 * time.Minute // agents of an old dialect answer only when they are done
	lookTimeout      = 90 * time.Second // the activity waits up to 50 seconds for a change
	refuseTimeout    = 5 * time.Second  // callers wait; a Delivery retries
	composeTimeout   = 5 * time.Second  // blob store only
	exportTimeout    = 5 * time.Second
	notifyTimeout    = 20 * time.Second

	// A destructive call that did not reach its server is repeated after 1, 2, 4 and 8
	// seconds.
	reachFirst    = time.Second
	reachAttempts = 5

	// Messages to another agent that could not be delivered at once.
	deliverFirst   = 5 * time.Second
	deliverMax     = 10 * time.Minute
	deliverTimeout = 30 * 24 * time.Hour

	heartbeatTimeout = 20 * time.Second
	attempts         = 3

	// Export is retried by the conversation itself once these are used up.
	exportRetryFirst = 30 * time.Second
	exportRetryMax   = 10 * time.Minute

	// How long a webhook is retried, and the longest interval between retries.
	notifyFor  = 24 * time.Hour
	notifyPace = 10 * time.Minute
	// How long the webhooks of an ended task can be read, and after how long without a
	// signal the conversation is asked for its state.
	pushKept    = 24 * time.Hour
	pushSilence = 7 * 24 * time.Hour
)

// payloadTooLarge is the SDK's error for a result over the server's limit. It is retryable by
// default and would be sent again for ever.
const payloadTooLarge = "payloadSizeError"

func retryPolicy(maximum int32) *temporal.RetryPolicy {
	return &temporal.RetryPolicy{
		InitialInterval:        time.Second,
		BackoffCoefficient:     2,
		MaximumInterval:        20 * time.Second,
		MaximumAttempts:        maximum,
		NonRetryableErrorTypes: append(contract.PermanentKinds(), payloadTooLarge),
	}
}

func regularOptions(timeout time.Duration, maximum int32, summary string) workflow.ActivityOptions {
	return workflow.ActivityOptions{
		StartToCloseTimeout: timeout,
		HeartbeatTimeout:    heartbeatTimeout,
		RetryPolicy:         retryPolicy(maximum),
		Summary:             summary,
	}
}

// deliveryOptions retries until the time is up. Without a maximum the test environment would
// make ten attempts.
func deliveryOptions(summary string) workflow.ActivityOptions {
	o := regularOptions(lookTimeout, math.MaxInt32, summary)
	o.ScheduleToCloseTimeout = deliverTimeout
	o.RetryPolicy.InitialInterval, o.RetryPolicy.MaximumInterval = deliverFirst, deliverMax
	return o
}

func localOptions(timeout time.Duration, summary string) workflow.LocalActivityOptions {
	return handover.LocalOptions(regularOptions(timeout, attempts, summary))
}

// webhookOptions retries until the webhook has answered, or left is up.
func webhookOptions(left time.Duration, summary string) workflow.ActivityOptions {
	policy := retryPolicy(0)
	policy.MaximumInterval = notifyPace
	return workflow.ActivityOptions{
		StartToCloseTimeout: notifyTimeout, ScheduleToCloseTimeout: left, RetryPolicy: policy,
		WaitForCancellation: true, Summary: summary,
	}
}

func exportOptions() workflow.LocalActivityOptions {
	o := localOptions(exportTimeout, wording.SummaryExport)
	o.ScheduleToCloseTimeout = 2 * exportTimeout
	return o
}

// awaitOptions is a timeout with a summary for the Web UI.
func awaitOptions(d time.Duration, summary string) workflow.AwaitOptions {
	return workflow.AwaitOptions{Timeout: d, TimerOptions: workflow.TimerOptions{Summary: summary}}
}
