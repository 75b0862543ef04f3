package embedded

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/server/api/adminservice/v1"
	enumsspb "go.temporal.io/server/api/enums/v1"
	"go.temporal.io/server/api/history/v1"
	"go.temporal.io/server/api/persistence/v1"
	"go.temporal.io/server/common/tasktoken"
	"go.temporal.io/server/service/history/tasks"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/timestamppb"
)

const (
	onlyShard = 1
	// timersAhead is longer than the timeouts of running tasks and of heartbeats.
	timersAhead = 2 * time.Minute
	timersPage  = 1000
	sideBySide  = 16
)

// Started is a task that was given to a worker and is not completed.
type Started struct {
	Activity bool
	// Token is the task token with which the worker would complete the task.
	Token []byte
	// Identity is the worker's identity. It is empty for a workflow task.
	Identity string
}

// Started lists the tasks of queues that were given to workers. After a start these are the
// tasks that workers, of this process or others, held when the server died. It reads only
// workflows with a timeout in the near future, so idle workflows do not make it slower.
//
// A workflow task may also wait in the sticky queue of a worker. If that worker has died, the
// task would wait there until its timeout. So Started asks the server to dispatch such tasks
// again, to any worker if that one no longer polls.
func (s *Server) Started(ctx context.Context, queues ...string) ([]Started, error) {
	conn, err := grpc.NewClient(s.address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, fmt.Errorf("reach temporal server: %w", err)
	}
	defer conn.Close()
	admin := adminservice.NewAdminServiceClient(conn)
	candidates, err := awaiting(ctx, admin)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	var out []Started
	reads, ctx := errgroup.WithContext(ctx)
	reads.SetLimit(sideBySide)
	for run := range candidates {
		reads.Go(func() error {
			found, err := startedIn(ctx, admin, s.namespace, run, queues)
			mu.Lock()
			defer mu.Unlock()
			out = append(out, found...)
			return err
		})
	}
	return out, reads.Wait()
}

type run struct{ workflowID, runID string }

// awaiting returns the runs that wait for the timeout of a task.
func awaiting(ctx context.Context, admin adminservice.AdminServiceClient) (map[run]bool, error) {
	out := map[run]bool{}
	request := &adminservice.ListHistoryTasksRequest{
		ShardId: onlyShard, Category: tasks.CategoryIDTimer, BatchSize: timersPage,
		TaskRange: &history.TaskRange{
			InclusiveMinTaskKey: &history.TaskKey{FireTime: timestamppb.New(time.Unix(0, 0))},
			ExclusiveMaxTaskKey: &history.TaskKey{FireTime: timestamppb.New(time.Now().Add(timersAhead))},
		},
	}
	for {
		page, err := admin.ListHistoryTasks(ctx, request)
		if err != nil {
			return nil, fmt.Errorf("list timers: %w", err)
		}
		for _, t := range page.GetTasks() {
			switch t.GetTaskType() {
			case enumsspb.TASK_TYPE_WORKFLOW_TASK_TIMEOUT, enumsspb.TASK_TYPE_ACTIVITY_TIMEOUT:
				out[run{t.GetWorkflowId(), t.GetRunId()}] = true
			}
		}
		if request.NextPageToken = page.GetNextPageToken(); len(request.NextPageToken) == 0 {
			return out, nil
		}
	}
}

// startedIn returns the started tasks of a run. A run that no longer exists, or is in the
// server's own namespace, has none.
func startedIn(ctx context.Context, admin adminservice.AdminServiceClient, namespace string, r run, queues []string) ([]Started, error) {
	described, err := admin.DescribeMutableState(ctx, &adminservice.DescribeMutableStateRequest{
		Namespace: namespace, Execution: &common.WorkflowExecution{WorkflowId: r.workflowID, RunId: r.runID},
	})
	if isNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read workflow %s: %w", r.workflowID, err)
	}
	state := described.GetDatabaseMutableState()
	if state.GetExecutionState().GetStatus() != enums.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return nil, nil
	}
	var out []Started
	info := state.GetExecutionInfo()
	ours := slices.Contains(queues, info.GetTaskQueue())
	if ours && isStuck(info) {
		if err := again(ctx, admin, r, info); err != nil {
			return nil, err
		}
	}
	if ours && info.GetWorkflowTaskStartedEventId() != 0 {
		token, err := workflowToken(r, info)
		if err != nil {
			return nil, err
		}
		out = append(out, Started{Token: token})
	}
	for _, a := range state.GetActivityInfos() {
		if !slices.Contains(queues, a.GetTaskQueue()) || a.GetStartedEventId() == 0 {
			continue
		}
		token, err := activityToken(r, info.GetNamespaceId(), a)
		if err != nil {
			return nil, err
		}
		out = append(out, Started{Activity: true, Token: token, Identity: a.GetStartedIdentity()})
	}
	return out, nil
}

// isStuck reports whether a workflow task waits in a sticky queue.
func isStuck(i *persistence.WorkflowExecutionInfo) bool {
	return i.GetWorkflowTaskScheduledEventId() != 0 && i.GetWorkflowTaskStartedEventId() == 0 && i.GetStickyTaskQueue() != ""
}

// again makes the server regenerate the tasks of a run. The workflow task goes to the common
// queue, because the sticky queue has had no poller since the server started. Once the new task
// has been dispatched, the server ignores the old one.
func again(ctx context.Context, admin adminservice.AdminServiceClient, r run, i *persistence.WorkflowExecutionInfo) error {
	_, err := admin.RefreshWorkflowTasks(ctx, &adminservice.RefreshWorkflowTasksRequest{
		NamespaceId: i.GetNamespaceId(), Execution: &common.WorkflowExecution{WorkflowId: r.workflowID, RunId: r.runID},
	})
	if err != nil && !isNotFound(err) {
		return fmt.Errorf("give out the task of workflow %s anew: %w", r.workflowID, err)
	}
	return nil
}

func workflowToken(r run, i *persistence.WorkflowExecutionInfo) ([]byte, error) {
	return tasktoken.NewSerializer().Serialize(tasktoken.NewWorkflowTaskToken(
		i.GetNamespaceId(), r.workflowID, r.runID, i.GetWorkflowTaskScheduledEventId(), i.GetWorkflowTaskStartedEventId(),
		i.GetWorkflowTaskStartedTime(), i.GetWorkflowTaskAttempt(), nil, i.GetWorkflowTaskVersion(),
	))
}

func activityToken(r run, namespaceID string, a *persistence.ActivityInfo) ([]byte, error) {
	return tasktoken.NewSerializer().Serialize(tasktoken.NewActivityTaskToken(
		namespaceID, r.workflowID, r.runID, a.GetScheduledEventId(), a.GetActivityId(), a.GetActivityType().GetName(),
		a.GetAttempt(), nil, a.GetVersion(), a.GetStartVersion(), nil, a.GetStamp(),
	))
}
