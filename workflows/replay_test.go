package workflows_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows"
	"agent-stop-and-go/workflows/credential/header"
)

const histories = "testdata/histories"

// recorded lists the required histories. `make histories` records them on a real server.
var recorded = []string{
	"simple", "approve", "reject", "cancel", "continue-as-new",
	"sequential", "sequential-node", "parallel", "parallel-node", "loop", "loop-node",
	"loop-of-groups", "loop-continue-as-new", "loop-continued",
	"nested", "nested-root", "nested-both", "nested-branch",
	"tree-reject", "tree-reject-root", "tree-reject-inner",
	"tree-cancel", "tree-cancel-root", "tree-cancel-sides", "tree-cancel-inner",
	// Recorded in mode auto.
	"auto", "auto-slow", "auto-tree", "auto-tree-root", "auto-tree-sides",
	"push", "push-conversation",
	"task", "task-delegation", "task-delegation-approval", "task-rejected", "delivery", "full-queue",
	"queue-carried", "approval-left", "approval-continued", "approval-update",
	"proven", "proven-approval",
	// Recorded before tasks of other agents were polled.
	"early-delegation", "early-delegation-rejected", "early-delegation-cancelled",
}

func TestRecordedHistoriesReplay(t *testing.T) {
	for _, name := range recorded {
		if _, err := os.Stat(filepath.Join(histories, name+".json")); err != nil {
			t.Errorf("the recording %q is missing (%v); run `make histories`", name, err)
		}
	}
	files, err := filepath.Glob(filepath.Join(histories, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			if err := replay(t, file); err != nil {
				t.Errorf("%v\n\nConversations of this shape may be waiting right now: see Determinism in doc.go.", err)
			}
		})
	}
}

// replay replays a recording under its own workflow ID: the IDs of nodes inside are derived
// from it.
func replay(t *testing.T, file string) error {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h, err := client.HistoryFromJSON(f, client.HistoryJSONOptions{})
	if err != nil {
		t.Fatal(err)
	}
	began := h.GetEvents()[0].GetWorkflowExecutionStartedEventAttributes()
	return replayer(t).ReplayWorkflowHistoryWithOptions(log.NewStructuredLogger(slog.New(slog.DiscardHandler)), h,
		worker.ReplayWorkflowHistoryOptions{OriginalExecution: workflow.Execution{
			ID: began.GetWorkflowId(), RunID: began.GetOriginalExecutionRunId(),
		}})
}

func replayer(t *testing.T) worker.WorkflowReplayer {
	t.Helper()
	r, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{
		ContextPropagators:       []workflow.ContextPropagator{header.Propagator()},
		DisableDeadlockDetection: true, // on a busy machine a coroutine may not run for a second
	})
	if err != nil {
		t.Fatal(err)
	}
	workflows.Register(r)
	return r
}
