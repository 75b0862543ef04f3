//go:build unix

package filesystem_test

import (
	"bytes"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// An append that does not fit, because of a full disk or here a limit of the process, must be
// undone, so that the call can be repeated.
func TestAppendingAddsAllOrNothing(t *testing.T) {
	if os.Getenv("FILES_ARE_LIMITED") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), "FILES_ARE_LIMITED=1")
		out, err := cmd.CombinedOutput()
		if err != nil || !bytes.Contains(out, []byte("--- PASS: "+t.Name())) {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 100_000, Max: 100_000}))
	f := newFixture(t)
	old := strings.Repeat("x", 90_000)
	put(t, f.work, map[string]string{"a": old})
	f.wantError(t, "write_file", args{"root": "work", "path": "a", "content": strings.Repeat("y", 50_000), "mode": "append"}, "file too large: a")
	if got := content(t, filepath.Join(f.work, "a")); got != old {
		t.Errorf("%d bytes are there, %d were", len(got), len(old))
	}
	f.do(t, "write_file", args{"root": "work", "path": "a", "content": "y", "mode": "append"})
}
