package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// shared is an agent whose Temporal server is used by other agents. It is a separate process,
// built without the race detector: with it the server needs five times the processor time, and
// tests only foreign code.
var shared struct {
	start sync.Once
	cmd   *exec.Cmd
	dir   string
	addr  string
	err   error
}

// sharedServer returns the address of that server.
func sharedServer(t *testing.T) string {
	t.Helper()
	shared.start.Do(func() { shared.addr, shared.err = startShared(freePort(t), freePort(t)) })
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.addr
}

func startShared(port, grpc int) (addr string, err error) {
	bin, err := binaries()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(bin, "shared-")
	if err != nil {
		return "", err
	}
	shared.dir = dir
	text := fmt.Sprintf("name: shared\nprompt: x\nhost: 127.0.0.1\nport: %d\ndata_dir: %s\nllm: {model: \"demo:rules\"}\n"+
		"temporal: {port: %d, ui_port: 0, task_queue: shared}\n", port, filepath.Join(dir, "data"), grpc)
	file := filepath.Join(dir, "shared.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return "", err
	}
	out := newOutput(readyMark("agent"))
	shared.cmd = exec.Command(filepath.Join(bin, "agent"), "--config", file)
	shared.cmd.Stdout, shared.cmd.Stderr = out, out
	if err := shared.cmd.Start(); err != nil {
		return "", err
	}
	select {
	case <-out.ready:
		return fmt.Sprintf("127.0.0.1:%d", grpc), nil
	case <-time.After(patience):
		return "", fmt.Errorf("the shared server is not ready after %s\n%s", patience, out)
	}
}

func endSharedServer() {
	if shared.cmd != nil {
		_ = shared.cmd.Process.Kill()
		_ = shared.cmd.Wait()
	}
	if shared.dir != "" {
		_ = os.RemoveAll(shared.dir)
	}
}
