package workflows_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows"
	"agent-stop-and-go/workflows/appender"
	"agent-stop-and-go/workflows/control"
	"agent-stop-and-go/workflows/credential/header"
	"agent-stop-and-go/workflows/grants"
	"agent-stop-and-go/workflows/hooks"
	"agent-stop-and-go/workflows/numbers"
	"agent-stop-and-go/workflows/rates"
	"agent-stop-and-go/workflows/telemetry"
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
	"auto", "auto-slow", "auto-once", "auto-tree", "auto-tree-root", "auto-tree-sides",
	"push", "push-conversation",
	"task", "task-delegation", "task-delegation-approval", "task-rejected", "delivery", "full-queue",
	"queue-carried", "approval-left", "approval-continued", "approval-update",
	"proven", "proven-approval", "login", "login-approval",
	"deputies", "deputized-approval", "reminded", "reminded-approval", "judged", "judged-approval", "judged-refused", "released", "released-approval", "control", "paused", "paused-approval", "paused-rejected", "later", "deletion", "upkeep", "adopt", "numbers",
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
			if err := replay(t, file, worker.WorkflowReplayerOptions{}); err != nil {
				t.Errorf("%v\n\nConversations of this shape may be waiting right now: see Determinism in doc.go.", err)
			}
		})
	}
}

// Histories do not depend on whether traces are exported, and a replay exports nothing.
func TestRecordedHistoriesReplayWithTraces(t *testing.T) {
	exporter := tracetest.NewInMemoryExporter()
	telemetry.SetTracer(trace.NewTracerProvider(trace.WithSyncer(exporter), trace.WithIDGenerator(telemetry.IDs{})).Tracer(""))
	defer telemetry.SetTracer(nil)
	traced := worker.WorkflowReplayerOptions{
		ContextPropagators: []workflow.ContextPropagator{telemetry.Propagator()},
		Interceptors:       []interceptor.WorkerInterceptor{telemetry.Messages()},
	}
	for _, name := range []string{"approve", "continue-as-new", "parallel", "nested-both", "auto-tree", "task-delegation-approval", "queue-carried"} {
		if err := replay(t, filepath.Join(histories, name+".json"), traced); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if spans := exporter.GetSpans(); len(spans) > 0 {
		t.Errorf("replays have exported %d spans, the first one %s", len(spans), spans[0].Name)
	}
}

// replay replays a recording under its own workflow ID: the IDs of nodes inside are derived
// from it.
func replay(t *testing.T, file string, o worker.WorkflowReplayerOptions) error {
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
	return replayer(t, o).ReplayWorkflowHistoryWithOptions(log.NewStructuredLogger(slog.New(slog.DiscardHandler)), h,
		worker.ReplayWorkflowHistoryOptions{OriginalExecution: workflow.Execution{
			ID: began.GetWorkflowId(), RunID: began.GetOriginalExecutionRunId(),
		}})
}

func replayer(t *testing.T, o worker.WorkflowReplayerOptions) worker.WorkflowReplayer {
	t.Helper()
	o.ContextPropagators = append(o.ContextPropagators, header.Propagator())
	o.DisableDeadlockDetection = true // on a busy machine a coroutine may not run for a second
	r, err := worker.NewWorkflowReplayerWithOptions(o)
	if err != nil {
		t.Fatal(err)
	}
	workflows.Register(r)
	control.Register(r)
	appender.Register(r)
	rates.Register(r)
	grants.Register(r)
	hooks.Register(r)
	numbers.Register(r)
	return r
}
