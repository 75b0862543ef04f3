package embedded_test

import (
	"context"
	"math"
	"testing"
	"time"

	"go.temporal.io/api/command/v1"
	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/server/api/adminservice/v1"
	"go.temporal.io/server/api/history/v1"
	"go.temporal.io/server/service/history/tasks"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"agent-stop-and-go/deploy/standalone/embedded"
)

const busyQueue = "busy"

// hand is a worker that takes tasks and does nothing with them.
type hand struct {
	t *testing.T
	client.Client
}

func (h hand) start(id, queue string) {
	h.t.Helper()
	options := client.StartWorkflowOptions{ID: id, TaskQueue: queue, WorkflowTaskTimeout: taskTime}
	if _, err := h.ExecuteWorkflow(h.t.Context(), options, "W"); err != nil {
		h.t.Fatal(err)
	}
}

const (
	pollTime = time.Minute
	taskTime = 2 * time.Minute // longer than a server takes to stop and start again; the server allows no more
)

func (h hand) takeWorkflow(queue string) []byte {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), pollTime)
	defer cancel()
	task, err := h.WorkflowService().PollWorkflowTaskQueue(ctx, &workflowservice.PollWorkflowTaskQueueRequest{
		Namespace: "default", TaskQueue: &taskqueue.TaskQueue{Name: queue}, Identity: "hand",
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return task.GetTaskToken()
}

// takeActivity has a workflow call an activity and takes that.
func (h hand) takeActivity(queue string) {
	h.t.Helper()
	_, err := h.WorkflowService().RespondWorkflowTaskCompleted(h.t.Context(), &workflowservice.RespondWorkflowTaskCompletedRequest{
		Namespace: "default", TaskToken: h.takeWorkflow(queue), Commands: []*command.Command{{
			CommandType: enums.COMMAND_TYPE_SCHEDULE_ACTIVITY_TASK,
			Attributes: &command.Command_ScheduleActivityTaskCommandAttributes{ScheduleActivityTaskCommandAttributes: &command.ScheduleActivityTaskCommandAttributes{
				ActivityId: "1", ActivityType: &common.ActivityType{Name: "A"}, TaskQueue: &taskqueue.TaskQueue{Name: queue},
				StartToCloseTimeout: durationpb.New(time.Hour), HeartbeatTimeout: durationpb.New(time.Hour),
			}},
		}},
	})
	if err != nil {
		h.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(h.t.Context(), pollTime)
	defer cancel()
	if _, err := h.WorkflowService().PollActivityTaskQueue(ctx, &workflowservice.PollActivityTaskQueueRequest{
		Namespace: "default", TaskQueue: &taskqueue.TaskQueue{Name: queue}, Identity: "hand",
	}); err != nil {
		h.t.Fatal(err)
	}
}

func TestTasksThatWorkersHadAreListedAfterARestart(t *testing.T) {
	o := embedded.Options{DataDir: t.TempDir()}
	first := start(t, o)
	before := hand{t, dial(t, first)}
	before.start("at-work", busyQueue)
	before.takeActivity(busyQueue)
	before.start("deciding", busyQueue)
	before.takeWorkflow(busyQueue)
	before.start("waiting", busyQueue) // nobody has taken it
	before.start("elsewhere", "another")
	before.takeWorkflow("another")
	before.Close()
	stop(t, first)

	server := start(t, o)
	started, err := server.Started(t.Context(), busyQueue)
	if err != nil {
		t.Fatal(err)
	}
	if len(started) != 2 {
		t.Fatalf("%d tasks: %+v", len(started), started)
	}
	after := hand{t, dial(t, server)}
	for _, task := range started {
		if err := after.fail(task); err != nil {
			t.Errorf("fail %+v: %v", task, err)
		}
		if err := after.fail(task); err == nil {
			t.Errorf("it could be failed twice: %+v", task)
		}
		if task.Activity != (task.Identity == "hand") {
			t.Errorf("identity %q", task.Identity)
		}
	}
	if left, err := server.Started(t.Context(), busyQueue); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func (h hand) fail(s embedded.Started) (err error) {
	ctx, cancel := context.WithTimeout(h.t.Context(), time.Minute)
	defer cancel()
	if s.Activity {
		_, err = h.WorkflowService().RespondActivityTaskFailed(ctx, &workflowservice.RespondActivityTaskFailedRequest{Namespace: "default", TaskToken: s.Token})
		return err
	}
	_, err = h.WorkflowService().RespondWorkflowTaskFailed(ctx, &workflowservice.RespondWorkflowTaskFailedRequest{Namespace: "default", TaskToken: s.Token})
	return err
}

const stickyQueue = "sticky-of-the-dead"

// pollSticky polls the sticky queue for some time. Until ten seconds later the server takes its worker for alive.
func (h hand) pollSticky(limit time.Duration) []byte {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), limit)
	defer cancel()
	task, err := h.WorkflowService().PollWorkflowTaskQueue(ctx, &workflowservice.PollWorkflowTaskQueueRequest{
		Namespace: "default", Identity: "hand",
		TaskQueue: &taskqueue.TaskQueue{Name: stickyQueue, Kind: enums.TASK_QUEUE_KIND_STICKY, NormalName: busyQueue},
	})
	if err != nil && ctx.Err() == nil {
		h.t.Fatal(err)
	}
	return task.GetTaskToken()
}

// complete ends a workflow task; the next ones wait in the sticky queue for longer than a poll.
func (h hand) complete(token []byte) {
	h.t.Helper()
	_, err := h.WorkflowService().RespondWorkflowTaskCompleted(h.t.Context(), &workflowservice.RespondWorkflowTaskCompletedRequest{
		Namespace: "default", TaskToken: token, StickyAttributes: &taskqueue.StickyExecutionAttributes{
			WorkerTaskQueue:        &taskqueue.TaskQueue{Name: stickyQueue, Kind: enums.TASK_QUEUE_KIND_STICKY, NormalName: busyQueue},
			ScheduleToStartTimeout: durationpb.New(90 * time.Second),
		},
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

// settledIn returns once the server has put away that it has passed the tasks of its queue on, which it would repeat.
func settledIn(t *testing.T, server *embedded.Server) {
	t.Helper()
	conn, err := grpc.NewClient(server.Address(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for {
		left, err := adminservice.NewAdminServiceClient(conn).ListHistoryTasks(t.Context(), &adminservice.ListHistoryTasksRequest{
			ShardId: 1, Category: int32(tasks.CategoryIDTransfer), BatchSize: 10,
			TaskRange: &history.TaskRange{InclusiveMinTaskKey: &history.TaskKey{FireTime: timestamppb.New(time.Unix(0, 0))},
				ExclusiveMaxTaskKey: &history.TaskKey{FireTime: timestamppb.New(time.Unix(0, 0)), TaskId: math.MaxInt64}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(left.GetTasks()) == 0 {
			return
		}
	}
}

// A task has been put into the sticky queue of a worker that was too busy to take it at once. Then all dies.
func TestATaskInTheStickyQueueOfADeadWorkerIsGivenOutAgain(t *testing.T) {
	o := embedded.Options{DataDir: t.TempDir()}
	first := start(t, o)
	before := hand{t, dial(t, first)}
	before.start("stuck", busyQueue)
	before.complete(before.takeWorkflow(busyQueue))
	before.pollSticky(3 * time.Second) // there is a worker
	if err := before.SignalWorkflow(t.Context(), "stuck", "", "go on", nil); err != nil {
		t.Fatal(err)
	}
	settledIn(t, first)
	before.Close()
	stop(t, first)

	server := start(t, o)
	if started, err := server.Started(t.Context(), busyQueue); err != nil || len(started) != 0 {
		t.Errorf("started: %v, %v", started, err)
	}
	after := hand{t, dial(t, server)}
	began := time.Now()
	token := after.takeWorkflow(busyQueue)
	if took := time.Since(began); len(token) == 0 || took > 10*time.Second {
		t.Fatalf("got a task: %v, after %s", len(token) > 0, took)
	}
	after.complete(token)
}
