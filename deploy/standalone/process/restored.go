package process

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"agent-stop-and-go/activities/switchboard"
	"agent-stop-and-go/deploy/standalone/backup"
	"agent-stop-and-go/workflows/contract/switches"
)

const (
	pauseTimeout = 30 * time.Second
	pausePace    = 20 * time.Millisecond
)

// restored pauses all destructive calls of an agent whose data were restored from a backup: calls
// that ran after the backup may be about to run again.
type restored struct {
	change switches.Change
	since  time.Time
	client client.Client
	// pending means that the Control may not have the switch yet.
	pending atomic.Bool
}

// openRestored returns nil if the data were not restored since the agent last started.
func openRestored(dataDir string, c client.Client) (*restored, error) {
	from, ok, err := backup.Pending(dataDir)
	if err != nil || !ok {
		return nil, err
	}
	r := &restored{client: c, since: time.Now(), change: switches.Change{What: switches.All, By: "agent restore",
		Reason: "restored from the backup of " + from.At.UTC().Format(time.RFC3339) + ": calls may have run since; look, then resume"}}
	r.pending.Store(true)
	return r, nil
}

// Read reads the switches. Until the Control has its own, all calls are paused.
func (r *restored) Read(ctx context.Context) (switches.State, error) {
	if r.pending.Load() {
		return switches.State{Switches: []switches.Switch{{What: r.change.What, Reason: r.change.Reason, By: r.change.By, Since: r.since}}}, nil
	}
	return switchboard.ReadMemo(ctx, r.client)
}

// order asks the Control to pause, before a worker runs. The Control gets this before any call
// that waits for it.
func (r *restored) order(ctx context.Context) error {
	_, err := r.client.SignalWithStartWorkflow(ctx, switches.WorkflowID, switches.SignalPause, r.change, client.StartWorkflowOptions{
		TaskQueue: switches.TaskQueue, WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
	}, switches.Workflow, switches.Input{})
	if err != nil {
		return fmt.Errorf("pause the calls of the restored agent: %w", err)
	}
	return nil
}

// settle returns when the Control has the switch, which counts from then on.
func (r *restored) settle(ctx context.Context, dataDir string) error {
	ctx, cancel := context.WithTimeout(ctx, pauseTimeout)
	defer cancel()
	for {
		state, err := switchboard.ReadMemo(ctx, r.client)
		if err == nil && slices.ContainsFunc(state.Switches, func(s switches.Switch) bool { return s.What == switches.All }) {
			r.pending.Store(false)
			return backup.Settle(dataDir)
		}
		select {
		case <-time.After(pausePace):
		case <-ctx.Done():
			return fmt.Errorf("pause the calls of the restored agent: %w", context.Cause(ctx))
		}
	}
}
