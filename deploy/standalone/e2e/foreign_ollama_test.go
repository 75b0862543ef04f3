//go:build foreign

package e2e_test

import (
	"fmt"
	"testing"
)

// TestForeignOllama runs an agent with Ollama's own client for JavaScript.
func TestForeignOllama(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	port := freePort(t)
	h.extra = fmt.Sprintf("clients: {ollama: {port: %d}}\n", port)
	h.inside()
	drives(t, "ollama.mjs", fmt.Sprintf("http://127.0.0.1:%d", port))
}
