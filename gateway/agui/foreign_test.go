//go:build foreign

package agui

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The official clients read random streams. Each gets the messages that it holds before and
// must end with those expected after.
func TestForeignClientsTakeEveryStream(t *testing.T) {
	script, err := filepath.Abs("../../deploy/conformance/ag-ui-streams.mjs")
	if err != nil {
		t.Fatal(err)
	}
	for version, legacy := range map[string]bool{"1.0": false, "0.0.59": true} {
		t.Run(version, func(t *testing.T) {
			dir := t.TempDir()
			n := writeStreams(t, dir, legacy)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			out, err := exec.CommandContext(ctx, "node", script, version, dir).CombinedOutput()
			t.Logf("%d streams\n%s", n, out)
			if err != nil || !strings.Contains(string(out), " 0 failed") {
				t.Errorf("the script failed: %v", err)
			}
		})
	}
}

func writeStreams(t *testing.T, dir string, legacy bool) (n int) {
	write := func(before []Message, c *client) {
		n++
		lines := encoded(append([]Message{}, before...))
		lines = append(append(lines, '\n'), encoded(append([]Message{}, c.messages...))...)
		for _, e := range c.log {
			lines = append(append(lines, '\n'), e...)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%05d.jsonl", n)), lines, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for seed := range uint64(300) {
		if err := play(seed, legacy, write); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	return n
}
