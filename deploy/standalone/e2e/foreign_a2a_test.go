//go:build foreign

package e2e_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestForeignTasks sends tasks to an agent with the official A2A clients.
func TestForeignTasks(t *testing.T) { foreignClient(t, newHome(t), "a2a-client.mjs") }

// foreignClient runs a script of the conformance folder against an agent.
func foreignClient(t *testing.T, h *home, name string) {
	t.Helper()
	api, _ := h.inside()
	runForeign(t, api, name)
}

// runForeign runs a script of the conformance folder that counts its checks.
func runForeign(t *testing.T, api *api, name string, args ...string) {
	t.Helper()
	script := filepath.Join(filepath.Dir(foreignScript(t)), name)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "node", append([]string{script, api.base}, args...)...).CombinedOutput()
	t.Logf("%s", out)
	if err != nil || !strings.Contains(string(out), " 0 failed") {
		t.Errorf("the script failed: %v", err)
	}
}
