//go:build foreign

package e2e_test

import "testing"

// TestForeignADK calls an agent with the remote agent of Google's Agent Development Kit. It
// approves three calls in each of its two modes.
func TestForeignADK(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	foreignClient(t, h, "adk.mjs")
	if calls := h.tools.called("note_add"); len(calls) != 6 {
		t.Errorf("the tool ran %d times: %v", len(calls), calls)
	}
}
