package main_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"agent-stop-and-go/mcpservers/hosting/programtest"
)

// A writing call whose server is killed has run once, its command ends too, and there is no answer: the server
// says nothing about repeated calls, so an agent reports the call as unknown and does not make it again.
func TestACallOfAKilledServerRanOnceAndHasNoAnswer(t *testing.T) {
	dir := t.TempDir()
	for _, folder := range []string{"made", "after"} {
		must(t, os.Mkdir(filepath.Join(dir, folder), 0o755))
	}
	write(t, dir, "tools/add.yaml", "name: add\nshort: Add a line\nflags:\n  - {name: line, type: string, required: true}\n"+
		"shell-script: |\n  echo \"$ARG_LINE\" >>"+dir+"/made/lines\n  sleep 2\n  echo x >"+dir+"/after/lines\n"+
		"write: ["+dir+"/made, "+dir+"/after]\nhints: {destructive: true}\n")
	args := []string{"server", "--transport", "http", "--directories", "tools"}
	server := programtest.Serve(t, dir, args...)
	answered := make(chan error, 1)
	go func() {
		_, err := server.Call(t.Context(), "add", "key", map[string]any{"line": "a"})
		answered <- err
	}()
	lines := func() string { text, _ := os.ReadFile(filepath.Join(dir, "made", "lines")); return string(text) }
	for deadline := time.Now().Add(20 * time.Second); lines() == ""; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the command does not run")
		}
	}
	server.Kill()
	if err := <-answered; err == nil {
		t.Error("a killed server answered")
	}
	again := programtest.Serve(t, dir, args...)
	if again.Deduplicates {
		t.Error("the server says that it recognises a call of before, and keeps nothing of it")
	}
	if got := lines(); got != "a\n" {
		t.Errorf("the lines are %q", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "after", "lines")); err == nil {
		t.Error("the command went on without its server")
	}
}
