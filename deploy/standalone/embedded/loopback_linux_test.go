package embedded_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agent-stop-and-go/deploy/standalone/embedded"
)

func TestOnlyLoopbackListens(t *testing.T) {
	start(t, embedded.Options{DataDir: t.TempDir(), UIPort: -1})
	listeners := listening(t)
	if len(listeners) < 5 { // four services and the UI
		t.Errorf("found only %d listeners of this process: %q", len(listeners), listeners)
	}
	for _, address := range listeners {
		// 127.0.0.1 or ::1, in the byte order of /proc.
		if !strings.HasPrefix(address, "0100007F:") && !strings.HasPrefix(address, "00000000000000000000000001000000:") {
			t.Errorf("listens on %s, which is not loopback", address)
		}
	}
}

// listening returns the local addresses of this process's listening sockets, as the kernel writes them.
func listening(t *testing.T) []string {
	t.Helper()
	own := map[string]bool{}
	fds, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		target, _ := os.Readlink(fd) // some close meanwhile
		if inode, ok := strings.CutPrefix(target, "socket:["); ok {
			own[strings.TrimSuffix(inode, "]")] = true
		}
	}
	var out []string
	for _, table := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		b, _ := os.ReadFile(table) // there may be no IPv6
		for line := range strings.Lines(string(b)) {
			const local, state, inode, listen = 1, 3, 9, "0A"
			if f := strings.Fields(line); len(f) > inode && f[state] == listen && own[f[inode]] {
				out = append(out, f[local])
			}
		}
	}
	return out
}
