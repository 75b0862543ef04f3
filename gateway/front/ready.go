package front

import (
	"context"
	"slices"
	"time"
)

// The waits between two looks: doubled from first to last.
const (
	lookFirst = 250 * time.Millisecond
	lookLast  = 5 * time.Minute // every look is a workflow
)

// AwaitReady calls report with what keeps a gateway from being ready: after the first
// look, and when that changes. It returns after nothing does, or when ctx ends.
func AwaitReady(ctx context.Context, problems func(context.Context) []string, report func([]string)) {
	var reported []string
	for wait := time.Duration(0); ; wait = min(max(2*wait, lookFirst), lookLast) {
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
