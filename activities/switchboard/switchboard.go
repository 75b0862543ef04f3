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
	asked time.Time // when the last read began
	state switches.State
	err   error
}

// Holding returns the switch that pauses a call, if one does. It asks the server, unless it has
// asked within the last second and the call was not paused then: a call that waits goes on with
// the resume at once.
func (b *Board) Holding(ctx context.Context, c switches.Call) (switches.Switch, bool, error) {
	came := time.Now()
	b.mu.Lock() // also while it reads: calls that come together need one answer
	defer b.mu.Unlock()
	if !b.knows(c, came) {
		b.ask(ctx)
	}
	if b.err != nil {
		return switches.Switch{}, false, b.err
	}
	w, held := b.state.Holding(c)
	return w, held, nil
}

// State returns the switches and changed limits, as they were a second ago or later.
func (b *Board) State(ctx context.Context) (switches.State, error) {
	came := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.asked.After(came) && (b.err != nil || time.Since(b.asked) >= kept) {
		b.ask(ctx)
	}
	return b.state, b.err
}

// knows reports whether the last answer is good for a call that came at a time. Any answer is
// that was asked for since: with a server that is away, calls wait for it together.
func (b *Board) knows(c switches.Call, came time.Time) bool {
	if b.asked.After(came) {
		return true
	}
	if b.err != nil || time.Since(b.asked) >= kept {
		return false
	}
	_, held := b.state.Holding(c)
	return !held
}

func (b *Board) ask(ctx context.Context) {
	read := b.Read
	if read == nil {
		read = readMemo
	}
	within, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	b.asked = time.Now()
	b.state, b.err = read(within)
	if b.err != nil {
		b.err = fmt.Errorf("read which calls are paused: %w", b.err)
	}
	if ctx.Err() != nil { // the call has ended, which is no answer for others
		b.asked = time.Time{}
	}
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
