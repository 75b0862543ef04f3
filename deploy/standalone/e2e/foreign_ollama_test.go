//go:build foreign

package e2e_test

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestForeignOllama runs an agent with Ollama's own clients, for JavaScript and for Go.
func TestForeignOllama(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	port := freePort(t)
	h.extra = fmt.Sprintf("clients: {ollama: {port: %d}}\n", port)
	h.inside()
	url := fmt.Sprintf("http://127.0.0.1:%d", port)
	drives(t, "ollama.mjs", url)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	dir := filepath.Join(filepath.Dir(foreignScript(t)), "ollama-client")
	out, err := exec.CommandContext(ctx, "go", "run", "-C", dir, ".", url).CombinedOutput()
	t.Logf("%s", out)
	if err != nil || !strings.Contains(string(out), " 0 failed") {
		t.Errorf("the client for Go failed: %v", err)
	}
}
