package activity

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/handover"
)

// Attempts is how often an activity that may be repeated is tried.
const Attempts = 3

const heartbeatTimeout = 20 * time.Second

// payloadTooLarge is the SDK's error for a result over the server's limit. It is retryable by
// default and would be sent again for ever.
const payloadTooLarge = "payloadSizeError"

// RetryPolicy retries what may succeed later. A maximum of 0 sets no limit.
func RetryPolicy(maximum int32) *temporal.RetryPolicy {
	return &temporal.RetryPolicy{
		InitialInterval:        time.Second,
		BackoffCoefficient:     2,
		MaximumInterval:        20 * time.Second,
		MaximumAttempts:        maximum,
		NonRetryableErrorTypes: append(contract.PermanentKinds(), payloadTooLarge),
	}
}

// Options are those of a regular activity. The summary is for the Web UI.
func Options(timeout time.Duration, maximum int32, summary string) workflow.ActivityOptions {
	return workflow.ActivityOptions{
		StartToCloseTimeout: timeout,
		HeartbeatTimeout:    heartbeatTimeout,
		RetryPolicy:         RetryPolicy(maximum),
		Summary:             summary,
	}
}

// LocalOptions are those of an activity inside the worker.
func LocalOptions(timeout time.Duration, summary string) workflow.LocalActivityOptions {
	return handover.LocalOptions(Options(timeout, Attempts, summary))
}
