package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/mcpservers/hosting/programtest"
	"agent-stop-and-go/mcpservers/prompt/sections"

	"github.com/mark3labs/mcp-go/mcp"
)

// reading is the prompt that a server has.
func reading(t *testing.T, server *programtest.Running) sections.Reading {
	t.Helper()
	var request mcp.ReadResourceRequest
	request.Params.URI = sections.URI
	result, err := server.ReadResource(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	var r sections.Reading
	if err := json.Unmarshal([]byte(result.Contents[0].(mcp.TextResourceContents).Text), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// The server says that it recognises repeated calls, so an agent makes a call again whose server was killed.
func TestAKilledChangeIsMadeOnce(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"p/index.md": "You help.\n[SECTIONS]\ntone\n", "p/tone.md": "Be brief.\n"} {
		if err := os.MkdirAll(filepath.Join(dir, "p"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	server := programtest.Serve(t, dir, "--directory", "p")
	for i := range 6 {
		if !server.Deduplicates {
			t.Fatal("the server says nothing about repeated calls")
		}
		line, key := fmt.Sprintf("Line %d.", i), fmt.Sprintf("key-%d", i)
		arguments := map[string]any{"section": "tone", "operation": "append", "content": line, "base": reading(t, server).Sections[0].Base}
		answered := make(chan error, 1)
		go func() {
			_, err := server.Call(t.Context(), "update_prompt", key, arguments)
			answered <- err
		}()
		select { // the kills spread over the time of the change, and beyond it
		case <-answered:
		case <-time.After(time.Duration(i*i) * time.Millisecond):
		}
		server.Kill()
		server = programtest.Serve(t, dir, "--directory", "p")
		for range 2 {
			if text, err := server.Call(t.Context(), "update_prompt", key, arguments); err != nil || !strings.HasPrefix(text, fmt.Sprintf("This is version %d,", i+2)) {
				t.Errorf("%d: %q %v", i, text, err)
			}
		}
		if now := reading(t, server); now.Version != i+2 || strings.Count(now.Text, line) != 1 {
			t.Errorf("%d: %+v", i, now)
		}
	}
}
