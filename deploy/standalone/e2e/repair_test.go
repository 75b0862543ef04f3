package e2e_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/deploy/standalone/repair"
	"agent-stop-and-go/workflows/contract"
)

// A workflow whose task fails after a destructive call is reset to behind that call, and never to
// before it: also if the calls in its history are encrypted.
func TestAWorkflowThatCannotGoOnIsRepairedBehindItsCalls(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string][]string{"in clear": nil, "encrypted": {"a"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			if keys != nil {
				h.encrypt(keys...)
			}
			h.serveAt(sharedServer(t))
			repairBehindCalls(t, h)
		})
	}
}

func repairBehindCalls(t *testing.T, h *home) {
	var broken atomic.Bool
	var calls atomic.Int32
	broken.Store(true)
	temporal := h.keyed()
	w := worker.New(temporal, h.queue, worker.Options{})
	w.RegisterActivityWithOptions(func(context.Context, contract.CallToolInput) error { calls.Add(1); return nil },
		activity.RegisterOptions{Name: contract.ActivityCallTool.Name})
	w.RegisterWorkflowWithOptions(func(ctx workflow.Context) error {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
		in := contract.CallToolInput{Tool: "note_add", Server: "counting", Destructive: true}
		if err := workflow.ExecuteActivity(ctx, contract.ActivityCallTool.Name, in).Get(ctx, nil); err != nil {
			return err
		}
		if err := workflow.Sleep(ctx, time.Millisecond); err != nil {
			return err
		}
		if broken.Load() {
			panic("a fault of this version")
		}
		return nil
	}, workflow.RegisterOptions{Name: contract.WorkflowConversation})
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	id := contract.ConversationWorkflowID(uuid.NewString())
	if _, err := temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: h.queue}, contract.WorkflowConversation); err != nil {
		t.Fatal(err)
	}
	finder := repair.Finder{Server: temporal, Namespace: "default", TaskQueue: h.queue}
	var found repair.Case
	eventually(t, "the task fails again", func() bool {
		c, is, err := finder.Examine(t.Context(), id)
		found = c
		return err == nil && is && strings.Contains(c.Cause, "a fault of this version")
	})
	if found.Problem != repair.TaskFails || found.Blocked != "" || len(found.Calls) > 0 || found.Event == 0 {
		t.Fatalf("%+v", found)
	}

	u := shellUser{t, h.dir, h.environ()}
	out, _ := u.run(1, "repair", "--config", h.configFile(), "--event", "4", id)
	if !strings.Contains(out, "note_add: has run at") || !strings.Contains(out, "no reset is offered") {
		t.Errorf("printed %s", out)
	}
	u.run(1, "repair", "--config", h.configFile(), "--event", "4", "--yes", id)
	if out, _ = u.run(1, "repair", "--config", h.configFile(), id); !strings.Contains(out, "agent repair --yes "+id) {
		t.Errorf("printed %s", out)
	}
	if again, _, err := finder.Examine(t.Context(), id); err != nil || again.RunID != found.RunID {
		t.Fatalf("something was reset: %+v, %v", again, err)
	}
	eventually(t, "it is in the list", func() bool {
		cases, err := finder.Find(t.Context())
		return err == nil && len(cases) == 1
	})
	var result struct{ Cases []repair.Case }
	out, _ = u.run(0, "repair", "--config", h.configFile(), "--yes", "--json")
	if err := json.Unmarshal([]byte(out), &result); err != nil || len(result.Cases) != 1 || result.Cases[0].NewRun == "" {
		t.Fatalf("%v: %s", err, out)
	}
	broken.Store(false)
	if err := temporal.GetWorkflow(t.Context(), id, result.Cases[0].NewRun).Get(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if n := calls.Load(); n != 1 {
		t.Errorf("%d calls", n)
	}
	if out, _ := u.run(0, "repair", "--config", h.configFile()); !strings.Contains(out, "All workflows can go on") {
		t.Errorf("printed %s", out)
	}
}
