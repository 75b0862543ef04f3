package workflows_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows"
)

const histories = "testdata/histories"

// recorded are the histories that must be there. `make histories` records them
// on a real server.
var recorded = []string{"simple", "approve", "reject", "cancel", "continue-as-new"}

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
			if err := replayer(t).ReplayWorkflowHistoryFromJSONFile(log.NewStructuredLogger(slog.New(slog.DiscardHandler)), file); err != nil {
				t.Errorf("%v\n\nConversations of this shape may be waiting right now: see Determinism in doc.go.", err)
			}
		})
	}
}

func replayer(t *testing.T) worker.WorkflowReplayer {
	t.Helper()
	r, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{
		ContextPropagators: []workflow.ContextPropagator{workflows.CredentialPropagator()},
	})
	if err != nil {
		t.Fatal(err)
	}
	workflows.Register(r)
	return r
}
