// Package run tells a workflow about its run, and measures its time.
package run

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/decide"
)

// Now is the time of the workflow task, in UTC.
func Now(ctx workflow.Context) time.Time { return workflow.Now(ctx).UTC() }

// History is the size of the history.
func History(ctx workflow.Context) decide.History {
	info := workflow.GetInfo(ctx)
	return decide.History{
		Events: info.GetCurrentHistoryLength(), Bytes: info.GetCurrentHistorySize(), Suggested: info.GetContinueAsNewSuggested(),
	}
}

// Timeout is a timeout with a summary for the Web UI.
func Timeout(d time.Duration, summary string) workflow.AwaitOptions {
	return workflow.AwaitOptions{Timeout: d, TimerOptions: workflow.TimerOptions{Summary: summary}}
}
