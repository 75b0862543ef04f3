package server

import (
	"context"
	"slices"
	"time"
)

// The pause between two checks doubles from the first to the last.
const (
	firstPause = 250 * time.Millisecond
	lastPause  = 5 * time.Minute // every check starts a workflow
)

// AwaitReady checks a gateway until it has no problems or ctx ends. It calls report after the
// first check, and when the problems change.
func AwaitReady(ctx context.Context, problems func(context.Context) []string, report func([]string)) {
	var reported []string
	for wait := time.Duration(0); ; wait = min(max(2*wait, firstPause), lastPause) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		now := problems(ctx)
		if ctx.Err() != nil {
			return
		}
		if wait == 0 || !slices.Equal(now, reported) {
			report(now)
		}
		if reported = now; len(now) == 0 {
			return
		}
	}
}
