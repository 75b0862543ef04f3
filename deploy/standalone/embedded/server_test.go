package embedded_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/worker"

	"agent-stop-and-go/deploy/standalone/embedded"
)

func TestWorkflowSurvivesARestart(t *testing.T) {
	dir := t.TempDir()
	first := start(t, embedded.Options{DataDir: dir})
	if err := run(t.Context(), dial(t, first), "before-the-stop"); err != nil {
		t.Fatal(err)
	}
	stop(t, first)
	if wal, err := os.Stat(dir + "/temporal.db-wal"); err == nil && wal.Size() > 0 {
		t.Errorf("%d bytes are left in the write-ahead log after Stop", wal.Size())
	}

	wantRunning(t, start(t, embedded.Options{DataDir: dir}), "before-the-stop")
}

// The Web UI asks for longer pages than the server gives, which is no trouble.
func TestLongPagesOfAHistoryAreNoWarning(t *testing.T) {
	var log lockedBuffer
	srv := start(t, embedded.Options{DataDir: t.TempDir(), Logger: slog.New(slog.NewTextHandler(&log, nil))})
	c := dial(t, srv)
	if err := run(t.Context(), c, "long"); err != nil {
		t.Fatal(err)
	}
	_, err := c.WorkflowService().GetWorkflowExecutionHistory(t.Context(), &workflowservice.GetWorkflowExecutionHistoryRequest{
		Namespace: "default", Execution: &commonpb.WorkflowExecution{WorkflowId: "long"}, MaximumPageSize: 5000,
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.WorkflowService().GetWorkflowExecutionHistoryReverse(t.Context(), &workflowservice.GetWorkflowExecutionHistoryReverseRequest{
		Namespace: "default", Execution: &commonpb.WorkflowExecution{WorkflowId: "long"}, MaximumPageSize: 5000,
	})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(log.String(), "page size") {
		t.Errorf("logged:\n%s", log.String())
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}

func TestKilledProcessLosesNothing(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+dir)
	cmd.Stderr = t.Output()
	if _, err := cmd.StdinPipe(); err != nil { // keeps it open
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "started\n" {
		t.Fatalf("the child said %q (%v)", line, err)
	}
	_, err = embedded.Start(t.Context(), embedded.Options{DataDir: dir})
	wantError(t, err, fmt.Sprintf("is in use by another agent (pid %d)", cmd.Process.Pid))
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // reports the signal

	wantRunning(t, start(t, embedded.Options{DataDir: dir}), "before-the-kill")
}

func wantRunning(t *testing.T, srv *embedded.Server, id string) {
	t.Helper()
	d, err := dial(t, srv).DescribeWorkflowExecution(t.Context(), id, "")
	if err != nil {
		t.Fatal(err)
	}
	if got := d.GetWorkflowExecutionInfo().GetStatus(); got != enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
		t.Errorf("status of %s: got %s, want running", id, got)
	}
}

func TestStopReleasesPortsAndGoroutines(t *testing.T) {
	srv := start(t, embedded.Options{DataDir: t.TempDir(), UIPort: -1})
	w := worker.New(dial(t, srv), "some-queue", worker.Options{})
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	stop(t, srv) // although a worker still polls
	w.Stop()

	for _, address := range []string{srv.Address(), strings.TrimPrefix(srv.UIAddress(), "http://")} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Errorf("after Stop: %v", err)
			continue
		}
		l.Close()
	}
	eventually(t, "no goroutine runs code of the server", func() (bool, error) {
		var stacks bytes.Buffer
		if err := pprof.Lookup("goroutine").WriteTo(&stacks, 1); err != nil {
			return false, err
		}
		for stack := range strings.SplitSeq(stacks.String(), "\n\n") {
			if strings.Contains(stack, "go.temporal.io/server/") || strings.Contains(stack, "temporalio/ui-server/") {
				return false, errors.New(stack)
			}
		}
		return true, nil
	})
	if err := srv.Stop(); err != nil {
		t.Errorf("second Stop: %v", err)
	}
}

func TestCancelledStartLeavesTheDirectoryFree(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := embedded.Start(ctx, embedded.Options{DataDir: dir}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	start(t, embedded.Options{DataDir: dir})
}
