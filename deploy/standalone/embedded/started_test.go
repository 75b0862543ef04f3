package embedded_test

import (
	"context"
	"testing"
	"time"

	"go.temporal.io/api/command/v1"
	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/durationpb"

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
