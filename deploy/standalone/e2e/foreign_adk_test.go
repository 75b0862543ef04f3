//go:build foreign

package e2e_test

import "testing"

// TestForeignADK has the remote agent of Google's Agent Development Kit talk to an agent.
func TestForeignADK(t *testing.T) { foreignClient(t, "adk.mjs") }
