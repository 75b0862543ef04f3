package main

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// The bare workflows do only the Temporal operations of a turn in mode regular: the same number
// and kind of activities, with payloads of a few bytes.
const (
	bareLoop = "BareLoop"  // lives as long as a conversation: signal, activities, update
	bareTurn = "BareTurn"  // one workflow for each turn
	bareNoop = "bare_noop" // an activity that does nothing
)

func registerBare(w worker.Worker) {
	w.RegisterWorkflowWithOptions(loopBare, workflow.RegisterOptions{Name: bareLoop})
	w.RegisterWorkflowWithOptions(turnBare, workflow.RegisterOptions{Name: bareTurn})
	w.RegisterActivityWithOptions(func(context.Context, string) (string, error) { return "done", nil },
		activity.RegisterOptions{Name: bareNoop})
}

func turnBare(ctx workflow.Context, calls int) error {
	each := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
	for range calls {
		if err := workflow.ExecuteActivity(each, bareNoop, "go").Get(ctx, nil); err != nil {
			return err
		}
	}
	export := workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{StartToCloseTimeout: time.Minute})
	return workflow.ExecuteLocalActivity(export, bareNoop, "go").Get(ctx, nil)
}

func loopBare(ctx workflow.Context, calls int) error {
	done := 0
	err := workflow.SetUpdateHandler(ctx, "await", func(ctx workflow.Context, n int) error {
		return workflow.Await(ctx, func() bool { return done >= n })
	})
	if err != nil {
		return err
	}
	ch := workflow.GetSignalChannel(ctx, "go")
	for workflow.GetInfo(ctx).GetCurrentHistoryLength() < 20_000 {
		ch.Receive(ctx, nil)
		if err := turnBare(ctx, calls); err != nil {
			return err
		}
		done++
	}
	return nil
}

// bareClient drives one bare loop.
type bareClient struct {
	client client.Client
	id     string
	n      int
}

func newBareClient(ctx context.Context, c client.Client, id string, calls int) (*bareClient, error) {
	_, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: id, TaskQueue: taskQueue}, bareLoop, calls)
	return &bareClient{client: c, id: id}, err
}

func (b *bareClient) turn(ctx context.Context) error {
	b.n++
	if err := b.client.SignalWorkflow(ctx, b.id, "", "go", "x"); err != nil {
		return err
	}
	h, err := b.client.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: b.id, UpdateName: "await", Args: []any{b.n}, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err != nil {
		return err
	}
	return h.Get(ctx, nil)
}

// onceClient runs one bare workflow for each turn.
type onceClient struct {
	client client.Client
	calls  int
}

func (o onceClient) turn(ctx context.Context) error {
	run, err := o.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{TaskQueue: taskQueue}, bareTurn, o.calls)
	if err != nil {
		return err
	}
	return run.Get(ctx, nil)
}
