// Package switchboard tells activities which destructive calls are paused: it reads the memo of
// the namespace's Control (package switches).
package switchboard

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"agent-stop-and-go/workflows/contract/switches"
)

const (
	// kept is how long a state is used that pauses nothing. A pause is in force everywhere after
	// this time.
	kept = time.Second
	// readTimeout bounds a read. Without an answer no destructive call is made.
	readTimeout = 10 * time.Second
)

// Board knows the switches. The zero value reads them with the client of the activity that asks.
type Board struct {
	// Read reads the switches that are set.
	Read func(context.Context) (switches.State, error)

	mu    sync.Mutex
	state switches.State
	until time.Time
}

// Holding returns the switch that pauses a call, if one does. It asks the server, unless it has
// asked within the last second and the call was not paused then: a call that waits goes on with
// the resume at once.
func (b *Board) Holding(ctx context.Context, c switches.Call) (switches.Switch, bool, error) {
	b.mu.Lock() // also while it reads: calls that come together need one answer
	defer b.mu.Unlock()
	if time.Now().Before(b.until) {
		if _, held := b.state.Holding(c); !held {
			return switches.Switch{}, false, nil
		}
	}
	asked := time.Now()
	read := b.Read
	if read == nil {
		read = readMemo
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	state, err := read(ctx)
	if err != nil {
		return switches.Switch{}, false, fmt.Errorf("read which calls are paused: %w", err)
	}
	b.state, b.until = state, asked.Add(kept)
	w, held := state.Holding(c)
	return w, held, nil
}

// readMemo reads the switches with the client of an activity. Outside of activities there are
// none.
func readMemo(ctx context.Context) (switches.State, error) {
	if !activity.IsActivity(ctx) {
		return switches.State{}, nil
	}
	return ReadMemo(ctx, activity.GetClient(ctx))
}

// Describer is the part of a Temporal client that reads a memo.
type Describer interface {
	DescribeWorkflowExecution(ctx context.Context, workflowID, runID string) (*workflowservice.DescribeWorkflowExecutionResponse, error)
}

var _ Describer = client.Client(nil)

// ReadMemo reads the switches from the memo of the Control. Without one that runs there are none.
func ReadMemo(ctx context.Context, c Describer) (s switches.State, err error) {
	d, err := c.DescribeWorkflowExecution(ctx, switches.WorkflowID, "")
	var none *serviceerror.NotFound
	info := d.GetWorkflowExecutionInfo()
	switch {
	case errors.As(err, &none):
		return s, nil
	case err != nil:
		return s, err
	case info.GetStatus() != enums.WORKFLOW_EXECUTION_STATUS_RUNNING && info.GetStatus() != enums.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW:
		return s, nil
	}
	if p := info.GetMemo().GetFields()[switches.MemoSwitches]; p != nil {
		err = converter.GetDefaultDataConverter().FromPayload(p, &s)
	}
	return s, err
}
