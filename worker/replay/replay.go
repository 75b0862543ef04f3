package replay

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// Server is the part of a client.Client that a Replay uses.
type Server interface {
	ListWorkflow(ctx context.Context, r *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error)
	GetWorkflowHistory(ctx context.Context, id, run string, isLongPoll bool, f enumspb.HistoryEventFilterType) client.HistoryEventIterator
}

// Replay selects what is replayed.
type Replay struct {
	Server    Server
	Namespace string
	// TaskQueues are those of the workers.
	TaskQueues []string
	// Since is the time after which a run must have closed. Running ones are always replayed.
	Since time.Time
	// Limit bounds the runs; 0 does not. Running ones come first.
	Limit    int
	Replayer worker.WorkflowReplayer
	// Broken is called for each run that breaks.
	Broken func(Break)
	// Progress, if not nil, is called after each run.
	Progress func(Summary)
}

// Summary counts runs.
type Summary struct {
	Replayed int            `json:"replayed"`
	Running  int            `json:"running"` // of the replayed
	Broken   int            `json:"broken"`
	Types    map[string]int `json:"types,omitempty"` // the replayed, by type
	// Empty are runs that no worker has begun. Gone are runs that were deleted meanwhile.
	Empty int `json:"empty,omitempty"`
	Gone  int `json:"gone,omitempty"`
	// Cut means that the limit was reached.
	Cut bool `json:"cut,omitempty"`
}

// Break is a run that this program cannot continue.
type Break struct {
	WorkflowID string `json:"workflow_id"`
	RunID      string `json:"run_id"`
	Type       string `json:"type"`
	Running    bool   `json:"running"`
	// Event is the ID of the event that does not fit, or 0 if it is not known.
	Event   int64  `json:"event,omitempty"`
	Problem string `json:"problem"`
	// SDK is the message of the SDK, without values.
	SDK    string `json:"sdk"`
	Advice string `json:"advice"`
}

// pageSize is how many runs are listed at once.
const pageSize = 200

// Run replays one history after the other, and holds one of them in memory. An error means that
// the server could not be read.
func (r Replay) Run(ctx context.Context) (Summary, error) {
	s := Summary{Types: map[string]int{}}
	for _, query := range r.queries() {
		if err := r.each(ctx, query, &s); err != nil || s.Cut {
			return s, err
		}
	}
	return s, nil
}

// queries select the runs, the running ones first. A run that closes meanwhile is in both lists,
// or it is in the second.
func (r Replay) queries() []string {
	var queues []string
	for _, q := range r.TaskQueues {
		queues = append(queues, "'"+strings.ReplaceAll(q, "'", `\'`)+"'")
	}
	of := "TaskQueue IN (" + strings.Join(queues, ", ") + ")"
	return []string{
		of + " AND ExecutionStatus = 'Running'",
		of + " AND CloseTime >= '" + r.Since.UTC().Format(time.RFC3339Nano) + "'",
	}
}

func (r Replay) each(ctx context.Context, query string, s *Summary) error {
	request := &workflowservice.ListWorkflowExecutionsRequest{Namespace: r.Namespace, PageSize: pageSize, Query: query}
	for {
		page, err := r.Server.ListWorkflow(ctx, request)
		if err != nil {
			return fmt.Errorf("list workflows: %w", err)
		}
		for _, info := range page.GetExecutions() {
			if r.Limit > 0 && s.Replayed >= r.Limit {
				s.Cut = true
				return nil
			}
			if err := r.one(ctx, info, s); err != nil {
				return err
			}
			if r.Progress != nil {
				r.Progress(*s)
			}
		}
		if request.NextPageToken = page.GetNextPageToken(); len(request.NextPageToken) == 0 {
			return nil
		}
	}
}

func (r Replay) one(ctx context.Context, info *workflowpb.WorkflowExecutionInfo, s *Summary) error {
	id, run := info.GetExecution().GetWorkflowId(), info.GetExecution().GetRunId()
	h, err := r.history(ctx, id, run)
	var gone *serviceerror.NotFound
	switch {
	case errors.As(err, &gone):
		s.Gone++
		return nil
	case err != nil:
		return fmt.Errorf("read the history of %s: %w", id, err)
	case !slices.ContainsFunc(h.Events, isBegun):
		s.Empty++
		return nil
	}
	running := info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
	s.Replayed++
	s.Types[info.GetType().GetName()]++
	if running {
		s.Running++
	}
	err = r.replay(h, id, run)
	if err == nil {
		return nil
	}
	s.Broken++
	b := explain(err, h)
	b.WorkflowID, b.RunID, b.Type, b.Running, b.Advice = id, run, info.GetType().GetName(), running, advice(running)
	r.Broken(b)
	return nil
}

// isBegun reports whether an event shows that a worker has begun the run.
func isBegun(e *historypb.HistoryEvent) bool {
	return e.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
}

func (r Replay) history(ctx context.Context, id, run string) (*historypb.History, error) {
	h := &historypb.History{}
	for it := r.Server.GetWorkflowHistory(ctx, id, run, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); it.HasNext(); {
		e, err := it.Next()
		if err != nil {
			return nil, err
		}
		h.Events = append(h.Events, e)
	}
	return h, nil
}

// replay replays a history. Code that panics outside of a workflow breaks it as well.
func (r Replay) replay(h *historypb.History, id, run string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return r.Replayer.ReplayWorkflowHistoryWithOptions(log.NewStructuredLogger(slog.New(slog.DiscardHandler)), h,
		worker.ReplayWorkflowHistoryOptions{OriginalExecution: workflow.Execution{ID: id, RunID: run}})
}
