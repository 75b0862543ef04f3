package e2e_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience bounds every wait of the tests. It is reached only if something is broken.
const patience = 2 * time.Minute

// built is the folder of the binaries, set when a test first needs one.
var built string

// binaries returns a folder with all binaries. It builds them, unless E2E_BIN names such a folder.
var binaries = sync.OnceValues(func() (string, error) {
	if dir := os.Getenv("E2E_BIN"); dir != "" {
		return dir, nil
	}
	dir, err := os.MkdirTemp("", "agent-bin-")
	if err != nil {
		return "", err
	}
	built = dir
	for _, b := range []struct{ dir, pkg, out string }{
		{"../../..", "./mcpservers/cmd/mcp-resources", "mcp-resources"},
		{"../../..", "./mcpservers/cmd/mcp-filesystem", "mcp-filesystem"},
		{"../../..", "./mcpservers/cmd/mcp-commands", "mcp-commands"},
		{"../../..", "./mcpservers/cmd/mcp-web", "mcp-web"},
		{"../../..", "./mcpservers/cmd/mcp-openapi", "mcp-openapi"},
		{"../../..", "./mcpservers/cmd/mcp-prompt", "mcp-prompt"},
		{"../../../mcpservers/sql", "./cmd/mcp-sql", "mcp-sql"},
		{"../../../mcpservers/drive", "./cmd/mcp-drive", "mcp-drive"},
		{"../../stores", "./cmd/worker", "worker"},
		{"../../stores", "./cmd/gateway", "gateway"},
		{"..", ".", "agent"},
	} {
		cmd := exec.Command("go", "build", "-tags", "sqlite_fts5", "-o", filepath.Join(dir, b.out), b.pkg)
		cmd.Dir = b.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return dir, fmt.Errorf("build %s: %w\n%s", b.out, err, out)
		}
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	if os.Getenv(childMarker) != "" {
		serveChild()
		return
	}
	code := m.Run()
	endSharedServer()
	if built != "" {
		os.RemoveAll(built)
	}
	os.Exit(code)
}

// proc is a started binary.
type proc struct {
	t    *testing.T
	cmd  *exec.Cmd
	out  *output
	done chan struct{}
	err  error
}

// start runs a binary and waits until it reports that it serves.
func start(t *testing.T, dir, binary string, env []string, args ...string) *proc {
	t.Helper()
	p := launch(t, dir, binary, env, args...)
	p.serves()
	return p
}

// serves waits until the process reports that it serves.
func (p *proc) serves() {
	p.t.Helper()
	name := filepath.Base(p.cmd.Path)
	select {
	case <-p.out.ready:
	case <-p.done:
		p.t.Fatalf("%s ended before it was ready: %v\n%s", name, p.err, p.out)
	case <-time.After(patience):
		p.t.Fatalf("%s is not ready after %s\n%s", name, patience, p.out)
	}
}

func launch(t *testing.T, dir, binary string, env []string, args ...string) *proc {
	t.Helper()
	bin, err := binaries()
	if err != nil {
		t.Fatal(err)
	}
	return launchFile(t, dir, filepath.Join(bin, binary), env, args...)
}

// launchFile is launch with the binary in a file.
func launchFile(t *testing.T, dir, file string, env []string, args ...string) *proc {
	t.Helper()
	binary := filepath.Base(file)
	p := &proc{t: t, cmd: exec.Command(file, args...), out: newOutput(readyMark(binary)), done: make(chan struct{})}
	p.cmd.Dir = dir
	p.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}, env...)
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.out
	keepOutput(t, p.out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("output of %s:\n%s", binary, p.out)
		}
	})
	return p
}

// outputs has the outputs of all processes, by test.
var outputs = struct {
	sync.Mutex
	of map[string][]*output
}{of: map[string][]*output{}}

func keepOutput(t *testing.T, o *output) {
	outputs.Lock()
	defer outputs.Unlock()
	outputs.of[t.Name()] = append(outputs.of[t.Name()], o)
	t.Cleanup(func() {
		outputs.Lock()
		defer outputs.Unlock()
		delete(outputs.of, t.Name())
	})
}

// outputsOf returns the outputs of a test's processes, including killed ones.
func outputsOf(t *testing.T) []*output {
	outputs.Lock()
	defer outputs.Unlock()
	return slices.Clone(outputs.of[t.Name()])
}

// kill ends the process as a crash would.
func (p *proc) kill() {
	_ = p.cmd.Process.Signal(syscall.SIGKILL) // it may have ended
	<-p.done
}

// terminate asks the process to end and waits for it.
func (p *proc) terminate() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
		return p.err
	case <-time.After(patience):
		return fmt.Errorf("still running %s after SIGTERM", patience)
	}
}

// readyMark returns the text that a binary prints when it serves.
func readyMark(binary string) string {
	if strings.HasPrefix(binary, "mcp-") {
		return "listening" // text or JSON
	}
	if binary == "agent" {
		return "Stop it with Ctrl-C"
	}
	return "is up: "
}

// output collects what a process prints.
type output struct {
	mark  string // what it prints when it is ready
	mu    sync.Mutex
	buf   bytes.Buffer
	ready chan struct{}
	once  sync.Once
}

func newOutput(mark string) *output { return &output{mark: mark, ready: make(chan struct{})} }

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, err := o.buf.Write(p)
	if strings.Contains(o.buf.String(), o.mark) {
		o.once.Do(func() { close(o.ready) })
	}
	return n, err
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

var _ io.Writer = (*output)(nil)

func TestEveryBinaryTellsItsVersionAndHowToUseIt(t *testing.T) {
	t.Parallel()
	dir, err := binaries()
	if err != nil {
		t.Fatal(err)
	}
	for _, binary := range []string{"agent", "worker", "gateway", "mcp-resources", "mcp-filesystem", "mcp-commands", "mcp-sql", "mcp-web", "mcp-openapi", "mcp-prompt", "mcp-drive"} {
		for arg, want := range map[string]string{"version": "dev\n", "help": "--config"} {
			if binary != "agent" { // the agent has commands
				arg = "--" + arg
			}
			cmd := exec.Command(filepath.Join(dir, binary), arg)
			cmd.Dir = t.TempDir()
			if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), want) {
				t.Errorf("%s %s: %v\n%s", binary, arg, err, out)
			}
		}
	}
}
