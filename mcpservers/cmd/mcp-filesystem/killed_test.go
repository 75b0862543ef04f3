package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/mcpservers/hosting/programtest"
)

// A file that is being written when the server is killed is as before or as after, never in between. The
// server says nothing about repeated calls, so an agent reports the call as unknown and does not make it again.
func TestAFileOfAKilledServerIsOldOrNew(t *testing.T) {
	cmd := program(t)
	args := []string{"--config", "f.yaml"}
	file := filepath.Join(cmd.Dir, "work", "a")
	before := strings.Repeat("0", 4<<20)
	must(t, os.WriteFile(file, []byte(before), 0o600))
	for i := range 4 {
		server := programtest.Serve(t, cmd.Dir, args...)
		if server.Deduplicates {
			t.Fatal("the server says that it recognises a call of before, and keeps nothing of it")
		}
		after := strings.Repeat(fmt.Sprint(i+1), 4<<20)
		answered := make(chan error, 1)
		go func() {
			_, err := server.Call(t.Context(), "write_file", "key", map[string]any{"root": "work", "path": "a", "content": after})
			answered <- err
		}()
		var err error
		select { // the kills spread over the time of the call
		case err = <-answered:
			answered <- err
		case <-time.After(time.Duration(i*i*8) * time.Millisecond):
		}
		server.Kill()
		err = <-answered
		data, readErr := os.ReadFile(file)
		must(t, readErr)
		switch string(data) {
		case after:
			before = after
		case before:
			if err == nil {
				t.Errorf("%d: it answered, and the file is as before", i)
			}
		default:
			t.Fatalf("%d: the file has %d bytes of neither text", i, len(data))
		}
	}
}
