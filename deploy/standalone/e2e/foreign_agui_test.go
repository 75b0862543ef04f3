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

// TestForeignFrontEnd runs agents with the official AG-UI clients.
func TestForeignFrontEnd(t *testing.T) {
	t.Parallel()
	one, two := newHome(t), newHome(t)
	two.extra = `agent: {name: root, type: sequential, agents: [
  {name: both, type: parallel, approval: required, agents: [
    {name: left, prompt: "do: call note_add {}"}, {name: right, prompt: "do: call note_add {}"}]}]}
`
	api, _ := one.inside()
	pair, _ := two.inside()
	for _, version := range []string{"1.0", "0.0.59"} {
		t.Run(version, func(t *testing.T) { drives(t, "ag-ui.mjs", version, api.base, pair.base) })
	}
}

// TestForeignCopilot runs an agent with the front end and the runtime of CopilotKit.
func TestForeignCopilot(t *testing.T) {
	t.Parallel()
	api, _ := newHome(t).inside()
	drives(t, "copilotkit.mjs", api.base)
}

// drives runs a script of checks and requires that all succeed.
func drives(t *testing.T, script string, args ...string) {
	t.Helper()
	path := filepath.Join(filepath.Dir(foreignScript(t)), script)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "node", append([]string{path}, args...)...).CombinedOutput()
	t.Logf("%s", out)
	if err != nil || !strings.Contains(string(out), " 0 failed") {
		t.Errorf("the script failed: %v", err)
	}
}
