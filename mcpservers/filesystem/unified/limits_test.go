package unified_test

import (
	"context"
	"strings"
	"testing"

	"agent-stop-and-go/mcpservers/filesystem/unified"
)

// countingContext counts how often a context is checked.
type countingContext struct {
	context.Context
	times int
}

func (a *countingContext) Err() error {
	a.times++
	return nil
}

func TestLongWorkChecksTheContextOften(t *testing.T) {
	for name, test := range map[string]struct {
		patch string
		least int
	}{
		"long hunk":  {"@@ -1 +1 @@\n" + strings.Repeat(" a\n", 3_000) + "-b\n", 100},
		"many hunks": {strings.Repeat("@@ -1 +1 @@\n-a\n+c\n", 2_000), 6_000},
	} {
		ctx := &countingContext{Context: t.Context()}
		_, _ = unified.Apply(ctx, []byte(strings.Repeat("a\n", 10_000)), test.patch)
		if ctx.times < test.least {
			t.Errorf("%s: %d times", name, ctx.times)
		}
	}
}
