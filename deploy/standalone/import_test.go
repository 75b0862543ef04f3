package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Conversations are imported with the prompt that they would begin with. The server is asked before anything
// else, so that no agent needs to run here.
func TestImportReadsThePromptOfAServer(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "conversation_x.json")
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	with := func(prompt string) error {
		path := filepath.Join(dir, "a.yaml")
		text := "temporal: {address: 127.0.0.1:1}\nmcp_servers: [{name: prompts, url: http://127.0.0.1:1/mcp}]\nprompt: " + prompt + "\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		return run(t.Context(), []string{"import", file, "--config", path}, env(), &out, &out)
	}
	if err := with("{server: prompts}"); err == nil || !strings.Contains(err.Error(), "read the prompt from the tool server prompts") {
		t.Errorf("%v", err)
	}
	if err := with("{server: prompts, text: You help.}"); err == nil || !strings.Contains(err.Error(), "is the agent running?") {
		t.Errorf("with a text to fall back on: %v", err)
	}
}
