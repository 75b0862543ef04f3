package push

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/activity"
)

const (
	notifyTimeout = 20 * time.Second

	// How long a webhook is retried, and the longest interval between retries.
	notifyFor  = 24 * time.Hour
	notifyPace = 10 * time.Minute

	// How long the webhooks of an ended task can be read, and after how long without a
	// signal the conversation is asked for its state.
	kept    = 24 * time.Hour
	silence = 7 * 24 * time.Hour
)

// webhookOptions retries until the webhook has answered, or left is up.
func webhookOptions(left time.Duration, summary string) workflow.ActivityOptions {
	policy := activity.RetryPolicy(0)
	policy.MaximumInterval = notifyPace
	return workflow.ActivityOptions{
		StartToCloseTimeout: notifyTimeout, ScheduleToCloseTimeout: left, RetryPolicy: policy,
		WaitForCancellation: true, Summary: summary,
	}
}
