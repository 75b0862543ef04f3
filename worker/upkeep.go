package worker

import (
	"context"
	"log/slog"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"agent-stop-and-go/config"
	"agent-stop-and-go/workflows/contract/deletion"
)

const (
	upkeepFirst = time.Minute // after the start
	upkeepEvery = time.Hour
	marksEvery  = 24 * time.Hour
)

// KeepUp starts upkeeps until stop is called: every hour one that deletes old conversations, if
// the configuration asks for it, and every day one that marks the stored values in use. The latter
// collects the others too if the blob store is in data_dir. One at a URL may be shared with agents
// of earlier versions, which mark nothing, so an operator starts its collections: `agent gc`.
func KeepUp(c client.Client, conf *config.Config, logger *slog.Logger) (stop func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		u := &upkeep{client: c, queue: conf.Temporal.TaskQueue, expires: conf.Conversations.DeleteAfter > 0, collects: conf.Blobs.URL == ""}
		for wait := upkeepFirst; ; wait = upkeepEvery {
			select {
			case <-ctx.Done():
				return
			case <-time.After(wait):
			}
			if err := u.start(ctx); err != nil && ctx.Err() == nil {
				logger.Warn("the upkeep could not be started", "error", err)
			}
		}
	}()
	return func(context.Context) error {
		cancel()
		<-done
		return nil
	}
}

type upkeep struct {
	client   client.Client
	queue    string
	expires  bool
	collects bool
}

// start starts an upkeep, if there is anything to do and no other worker has just done it.
func (u *upkeep) start(ctx context.Context) error {
	in := deletion.UpkeepInput{Mark: true, Collect: u.collects}
	if !u.due(ctx, in) {
		in = deletion.UpkeepInput{}
	}
	if !in.Mark && !u.expires {
		return nil
	}
	_, err := RunUpkeep(ctx, u.client, u.queue, in)
	return err
}

// due reports whether the last upkeep of a sort was long ago, or has failed.
func (u *upkeep) due(ctx context.Context, in deletion.UpkeepInput) bool {
	d, err := u.client.DescribeWorkflowExecution(ctx, upkeepID(u.queue, in), "")
	if err != nil {
		return true
	}
	last := d.GetWorkflowExecutionInfo()
	return last.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_FAILED || time.Since(last.GetStartTime().AsTime()) >= marksEvery
}

// RunUpkeep starts an upkeep, or joins the one of its sort that runs.
func RunUpkeep(ctx context.Context, c client.Client, queue string, in deletion.UpkeepInput) (client.WorkflowRun, error) {
	return c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: upkeepID(queue, in), TaskQueue: queue, StaticSummary: "upkeep",
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
	}, deletion.WorkflowUpkeep, in)
}

func upkeepID(queue string, in deletion.UpkeepInput) string {
	id := deletion.UpkeepWorkflowID(queue)
	switch {
	case in.DryRun:
		return id + "-dry-run"
	case in.Collect:
		return id + "-collection"
	case in.Mark:
		return id + "-marks"
	}
	return id
}
