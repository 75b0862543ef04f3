package auditing

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/workflows/contract/audit"
)

// Server is the part of a Temporal client that is used here.
type Server interface {
	UpdateWorkflow(ctx context.Context, o client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error)
	SignalWithStartWorkflow(ctx context.Context, id, signal string, arg any, o client.StartWorkflowOptions, workflow any, args ...any) (client.WorkflowRun, error)
}

const (
	// sendTimeout bounds an update.
	sendTimeout = 8 * time.Second
	retryUpdate = 50 * time.Millisecond
)

// sender sends updates, one at a time, with what has come meanwhile in the next: the server takes
// only some updates of a workflow at once.
type sender struct {
	server Server
	came   chan request
}

type request struct {
	entries audit.Entries
	done    chan<- error
}

func newSender(s Server) *sender {
	return &sender{server: s, came: make(chan request)}
}

// run sends until ctx ends.
func (s *sender) run(ctx context.Context) {
	var waiting []request
	var sent chan error
	for {
		if sent == nil && len(waiting) > 0 {
			batch := waiting
			waiting, sent = nil, make(chan error, 1)
			go func(sent chan<- error) {
				err := s.send(ctx, batch)
				for _, r := range batch {
					r.done <- err
				}
				sent <- err
			}(sent)
		}
		select {
		case r := <-s.came:
			waiting = append(waiting, r)
		case <-sent:
			sent = nil
		case <-ctx.Done():
			for _, r := range waiting {
				r.done <- &refusedError{ctx.Err().Error()}
			}
			return
		}
	}
}

// append returns when the leaves that are awaited are durable.
func (s *sender) append(ctx context.Context, e audit.Entries) error {
	done := make(chan error, 1)
	select {
	case s.came <- request{e, done}:
	case <-ctx.Done():
		return &refusedError{ctx.Err().Error()}
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *sender) send(ctx context.Context, batch []request) error {
	var all audit.Entries
	for _, r := range batch {
		all.Await, all.Then = append(all.Await, r.entries.Await...), append(all.Then, r.entries.Then...)
	}
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	for {
		err := s.update(ctx, all)
		var none *serviceerror.NotFound
		var busy *serviceerror.ResourceExhausted
		switch {
		case errors.As(err, &none):
			if err := s.record(ctx, nil); err != nil { // starts it
				return &refusedError{fmt.Sprintf("start the audit: %v", err)}
			}
		case !errors.As(err, &busy):
			return reason(ctx, err)
		}
		select {
		case <-time.After(retryUpdate):
		case <-ctx.Done():
			return reason(ctx, ctx.Err())
		}
	}
}

func (s *sender) update(ctx context.Context, e audit.Entries) error {
	h, err := s.server.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: audit.WorkflowID, UpdateID: rand.Text(), UpdateName: audit.UpdateAppend, Args: []any{e}, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err != nil {
		return err
	}
	return h.Get(ctx, nil)
}

// refusedError says why no leaf that was to follow is in the log, nor will be.
type refusedError struct{ why string }

func (e *refusedError) Error() string { return e.why }

// reason makes one sentence of an error.
func reason(ctx context.Context, err error) error {
	var app *temporal.ApplicationError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &app):
		return &refusedError{app.Message()}
	case ctx.Err() != nil:
		return fmt.Errorf("the audit log does not answer: no worker with its key has written to it within %v", sendTimeout)
	}
	return fmt.Errorf("the audit log does not answer: %w", err)
}

// Tell sends leaves to the log, and starts the Audit if it does not run. It does not wait until they are
// in the log.
func Tell(ctx context.Context, s Server, leaves []audit.Leaf) error {
	return newSender(s).record(ctx, leaves)
}

// record signals leaves, and starts the Audit if it does not run.
func (s *sender) record(ctx context.Context, leaves []audit.Leaf) error {
	_, err := s.server.SignalWithStartWorkflow(ctx, audit.WorkflowID, audit.SignalAppend, leaves, client.StartWorkflowOptions{
		ID: audit.WorkflowID, TaskQueue: audit.TaskQueue, StaticSummary: "audit log",
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
	}, audit.Workflow, audit.Input{})
	return err
}
