//go:build foreign

package e2e_test

import "testing"

// TestForeignADK has the remote agent of Google's Agent Development Kit talk to an agent.
// In each of its two ways it approves three calls.
func TestForeignADK(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	foreignClient(t, h, "adk.mjs")
	if calls := h.tools.called("note_add"); len(calls) != 6 {
		t.Errorf("the tool ran %d times: %v", len(calls), calls)
	}
}
