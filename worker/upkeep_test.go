package worker_test

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/timestamppb"

	"agent-stop-and-go/config"
	"agent-stop-and-go/worker"
	"agent-stop-and-go/workflows/contract/deletion"
)

// upkeeps is a client that notes which upkeeps are started.
type upkeeps struct {
	client.Client
	began  map[string]time.Time
	all    []deletion.UpkeepInput
	status enumspb.WorkflowExecutionStatus // of all
}

func (u *upkeeps) DescribeWorkflowExecution(_ context.Context, id, _ string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	return &workflowservice.DescribeWorkflowExecutionResponse{
		WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{StartTime: timestamppb.New(u.began[id]), Status: u.status},
	}, nil
}

func (u *upkeeps) ExecuteWorkflow(_ context.Context, o client.StartWorkflowOptions, _ any, args ...any) (client.WorkflowRun, error) {
	u.began[o.ID] = time.Now()
	u.all = append(u.all, args[0].(deletion.UpkeepInput))
	return nil, nil
}

func TestKeepUp(t *testing.T) {
	day := func(first deletion.UpkeepInput, rest ...deletion.UpkeepInput) (all []deletion.UpkeepInput) {
		all = append(all, first)
		for range 23 {
			all = append(all, rest...)
		}
		return append(all, first)
	}
	for name, c := range map[string]struct {
		after time.Duration
		url   string
		want  []deletion.UpkeepInput
	}{
		"a store of its own is collected every day": {want: day(deletion.UpkeepInput{Mark: true, Collect: true})},
		"one that may be shared is marked":          {url: "file:///srv/blobs", want: day(deletion.UpkeepInput{Mark: true})},
		"old conversations are deleted every hour": {
			after: time.Hour, want: day(deletion.UpkeepInput{Mark: true, Collect: true}, deletion.UpkeepInput{}),
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conf := config.Default()
				conf.Conversations.DeleteAfter, conf.Blobs.URL = c.after, c.url
				u := &upkeeps{began: map[string]time.Time{}}
				stop := worker.KeepUp(u, conf, slog.New(slog.DiscardHandler))
				time.Sleep(24*time.Hour + 2*time.Minute)
				if err := stop(t.Context()); err != nil || !slices.Equal(u.all, c.want) {
					t.Errorf("%v, started %+v", err, u.all)
				}
			})
		})
	}
}

// A failed upkeep is not put off to the next day.
func TestAFailedUpkeepIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := &upkeeps{began: map[string]time.Time{}, status: enumspb.WORKFLOW_EXECUTION_STATUS_FAILED}
		stop := worker.KeepUp(u, config.Default(), slog.New(slog.DiscardHandler))
		time.Sleep(2*time.Hour + 2*time.Minute)
		if err := stop(t.Context()); err != nil || len(u.all) != 3 {
			t.Errorf("%v, started %+v", err, u.all)
		}
	})
}
