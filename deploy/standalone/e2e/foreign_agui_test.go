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

// TestForeignFrontEnd has the official AG-UI client drive agents.
func TestForeignFrontEnd(t *testing.T) {
	script := filepath.Join(filepath.Dir(foreignScript(t)), "ag-ui.mjs")
	one, two := newHome(t), newHome(t)
	two.extra = `agent: {name: root, type: sequential, agents: [
  {name: both, type: parallel, approval: required, agents: [
    {name: left, prompt: "do: call note_add {}"}, {name: right, prompt: "do: call note_add {}"}]}]}
`
	api, _ := one.inside()
	pair, _ := two.inside()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "node", script, api.base, pair.base).CombinedOutput()
	t.Logf("%s", out)
	if err != nil || !strings.Contains(string(out), " 0 failed") {
		t.Errorf("the script failed: %v", err)
	}
}
