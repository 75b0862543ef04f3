// Package run tells a workflow about its run, and measures its time.
package run

import (
	"encoding/json"
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/decide"
)

// Now is the time of the workflow task, in UTC.
func Now(ctx workflow.Context) time.Time { return workflow.Now(ctx).UTC() }

// Detached returns a context that is never cancelled.
func Detached(ctx workflow.Context) workflow.Context {
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	return ctx
}

// History is the size of the history.
func History(ctx workflow.Context) decide.History {
	info := workflow.GetInfo(ctx)
	return decide.History{
		Events: info.GetCurrentHistoryLength(), Bytes: info.GetCurrentHistorySize(), Suggested: info.GetContinueAsNewSuggested(),
	}
}

// IsLong reports whether a run has more than so many events, or so much that the server suggests a new
// run.
func IsLong(ctx workflow.Context, events int) bool {
	info := workflow.GetInfo(ctx)
	return info.GetContinueAsNewSuggested() || info.GetCurrentHistoryLength() > events
}

// Size is the length of a value of history as JSON, in bytes.
func Size(v any) int {
	data, err := json.Marshal(v)
	if err != nil { // wire types can be encoded
		panic(fmt.Sprintf("encode %T: %v", v, err))
	}
	return len(data)
}

// Timeout is a timeout with a summary for the Web UI.
func Timeout(d time.Duration, summary string) workflow.AwaitOptions {
	return workflow.AwaitOptions{Timeout: d, TimerOptions: workflow.TimerOptions{Summary: summary}}
}
