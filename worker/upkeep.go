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
	upkeepFirst   = 5 * time.Minute // after the start
	upkeepEvery   = time.Hour
	collectsEvery = 24 * time.Hour
)

// KeepUp starts an upkeep from time to time until stop is called: every hour if old conversations
// are to be deleted, and every day one that collects stored values, if all that may refer to them
// is in this process (alone). Elsewhere `agent gc` collects.
func KeepUp(c client.Client, conf *config.Config, alone bool, logger *slog.Logger) (stop func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		u := &upkeep{client: c, queue: conf.Temporal.TaskQueue, expires: conf.Conversations.DeleteAfter > 0, collects: alone && conf.Blobs.URL == ""}
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
	collect := u.collects && u.due(ctx)
	if !collect && !u.expires {
		return nil
	}
	_, err := RunUpkeep(ctx, u.client, u.queue, deletion.UpkeepInput{Collect: collect})
	return err
}

// due reports whether the last collection was long ago.
func (u *upkeep) due(ctx context.Context) bool {
	d, err := u.client.DescribeWorkflowExecution(ctx, collectionID(u.queue), "")
	return err != nil || time.Since(d.GetWorkflowExecutionInfo().GetStartTime().AsTime()) >= collectsEvery
}

func collectionID(queue string) string { return deletion.UpkeepWorkflowID(queue) + "-collection" }

// RunUpkeep starts an upkeep, or joins the one that runs.
func RunUpkeep(ctx context.Context, c client.Client, queue string, in deletion.UpkeepInput) (client.WorkflowRun, error) {
	id := deletion.UpkeepWorkflowID(queue)
	switch {
	case in.DryRun:
		id += "-dry-run"
	case in.Collect:
		id = collectionID(queue)
	}
	return c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: id, TaskQueue: queue, StaticSummary: "upkeep",
		WorkflowIDReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		WorkflowIDConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
	}, deletion.WorkflowUpkeep, in)
}
