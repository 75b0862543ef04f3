package tasklog_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	querypb "go.temporal.io/api/query/v1"
	"go.temporal.io/api/serviceerror"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"agent-stop-and-go/worker/tasklog"
	"agent-stop-and-go/workflows/contract"
)

func TestTasksOfADeadProcessAreGivenBackOnce(t *testing.T) {
	path := newPath(t)
	dead := open(t, path)
	dead.takesWorkflow("w1")
	dead.takesActivity("a1")
	dead.call(&workflowservice.PollWorkflowTaskQueueRequest{}, workflowTask(""), nil) // an empty poll
	dead.call(&workflowservice.PollActivityTaskQueueRequest{}, &workflowservice.PollActivityTaskQueueResponse{}, nil)
	var server service
	next, r := restart(t, path, &server)
	same(t, server.failedTasks(), "workflows [w1] activities [a1] queues []")
	same(t, r, tasklog.Returned{Workflows: 1, Activities: 1})
	same(t, server.namespaces, []string{"space", "space"})
	next.takesWorkflow("w2")
	var again service
	restart(t, path, &again)
	same(t, again.failedTasks(), "workflows [w2] activities [] queues []")
}

func TestAnsweredTasksAreNotGivenBack(t *testing.T) {
	token := []byte("x")
	for _, answer := range []struct{ req, reply proto.Message }{
		{&workflowservice.RespondWorkflowTaskCompletedRequest{TaskToken: token}, &workflowservice.RespondWorkflowTaskCompletedResponse{}},
		{&workflowservice.RespondWorkflowTaskFailedRequest{TaskToken: token}, &workflowservice.RespondWorkflowTaskFailedResponse{}},
		{&workflowservice.RespondActivityTaskCompletedRequest{TaskToken: token}, &workflowservice.RespondActivityTaskCompletedResponse{}},
		{&workflowservice.RespondActivityTaskFailedRequest{TaskToken: token}, &workflowservice.RespondActivityTaskFailedResponse{}},
		{&workflowservice.RespondActivityTaskCanceledRequest{TaskToken: token}, &workflowservice.RespondActivityTaskCanceledResponse{}},
	} {
		for _, c := range []struct {
			name  string
			err   error
			given string
		}{
			{"accepted", nil, "[]"},
			{"the server knows no such task any more", status.Error(codes.NotFound, "gone"), "[]"},
			{"the answer did not arrive", status.Error(codes.Unavailable, "away"), "[x]"},
		} {
			t.Run(fmt.Sprintf("%T/%s", answer.req, c.name), func(t *testing.T) {
				path := newPath(t)
				dead := open(t, path)
				dead.takesActivity("x")
				dead.call(answer.req, answer.reply, c.err)
				var server service
				restart(t, path, &server)
				same(t, server.activities, c.given)
			})
		}
	}
}

func TestTasksThatComeWithOtherAnswersAreNoted(t *testing.T) {
	path := newPath(t)
	dead := open(t, path)
	dead.takesWorkflow("w1")
	dead.call(&workflowservice.RespondWorkflowTaskCompletedRequest{TaskToken: []byte("w1"), IntermediatePage: true},
		&workflowservice.RespondWorkflowTaskCompletedResponse{}, nil)
	dead.takesWorkflow("w2")
	dead.call(&workflowservice.RespondWorkflowTaskCompletedRequest{TaskToken: []byte("w2")},
		&workflowservice.RespondWorkflowTaskCompletedResponse{
			WorkflowTask:  workflowTask("w3"),
			ActivityTasks: []*workflowservice.PollActivityTaskQueueResponse{activityTask("a1"), activityTask("a2")},
		}, nil)
	dead.call(&workflowservice.StartWorkflowExecutionRequest{}, &workflowservice.StartWorkflowExecutionResponse{EagerWorkflowTask: workflowTask("w4")}, nil)
	var server service
	restart(t, path, &server)
	same(t, server.failedTasks(), "workflows [w1 w3 w4] activities [a1 a2] queues []")
}

func TestQueriesAreNotNoted(t *testing.T) {
	path := newPath(t)
	query := workflowTask("q")
	query.Query = &querypb.WorkflowQuery{QueryType: "conversation"}
	open(t, path).call(&workflowservice.PollWorkflowTaskQueueRequest{}, query, nil)
	var server service
	restart(t, path, &server)
	same(t, server.failedTasks(), "workflows [] activities [] queues []")
}

func sticky(name string) *workflowservice.PollWorkflowTaskQueueRequest {
	return &workflowservice.PollWorkflowTaskQueueRequest{TaskQueue: &taskqueuepb.TaskQueue{Name: name, Kind: enumspb.TASK_QUEUE_KIND_STICKY}}
}

func TestTheStickyQueueOfADeadProcessIsGivenUp(t *testing.T) {
	path := newPath(t)
	killed := open(t, path)
	killed.call(sticky("host:1"), workflowTask(""), nil)
	killed.call(sticky("host:1"), workflowTask(""), status.Error(codes.Unavailable, "away"))
	var server service
	stopped, r := restart(t, path, &server)
	same(t, server.failedTasks(), "workflows [] activities [] queues [host:1]")
	same(t, r, tasklog.Returned{})
	stopped.call(sticky("host:2"), workflowTask(""), nil)
	stopped.call(&workflowservice.ShutdownWorkerRequest{StickyTaskQueue: "host:2"}, &workflowservice.ShutdownWorkerResponse{}, nil)
	var again service
	restart(t, path, &again)
	same(t, again.failedTasks(), "workflows [] activities [] queues []")
}

// Workflows must handle a lost activity in the same way whether a timeout or GiveBack reports
// it.
func TestALostActivityFailsLikeOneWithoutAHeartbeatButIsRepeatedAtOnce(t *testing.T) {
	path := newPath(t)
	open(t, path).takesActivity("a1")
	var server service
	restart(t, path, &server)
	err := temporal.GetDefaultFailureConverter().FailureToError(server.failures[0])
	var timeout *temporal.TimeoutError
	if !errors.As(err, &timeout) || timeout.TimeoutType() != enumspb.TIMEOUT_TYPE_HEARTBEAT {
		t.Errorf("no missing heartbeat: %v", err)
	}
	var around *temporal.ApplicationError
	if !errors.As(err, &around) || around.NonRetryable() || slices.Contains(contract.PermanentKinds(), around.Type()) {
		t.Errorf("it would not be repeated: %+v", around)
	}
	if d := around.NextRetryDelay(); d <= 0 || d > 10*time.Millisecond {
		t.Errorf("it is repeated after %s", d)
	}
}

func TestALostWorkflowTaskDoesNotLookLikeAReset(t *testing.T) {
	path := newPath(t)
	open(t, path).takesWorkflow("w1")
	var server service
	restart(t, path, &server)
	same(t, server.causes, []enumspb.WorkflowTaskFailedCause{enumspb.WORKFLOW_TASK_FAILED_CAUSE_RESET_STICKY_TASK_QUEUE})
}

func TestWhatTheServerCouldNotBeToldIsLeftForTheNextStart(t *testing.T) {
	path := newPath(t)
	dead := open(t, path)
	dead.call(sticky("host:1"), workflowTask(""), nil)
	for _, token := range []string{"gone", "away", "there"} {
		dead.takesActivity(token)
	}
	server := service{err: func(token string) error {
		switch token {
		case "gone":
			return serviceerror.NewNotFound("no such task")
		case "there":
			return nil
		}
		return serviceerror.NewUnavailable("not now")
	}}
	r, err := open(t, path).log.GiveBack(t.Context(), &server, "space")
	same(t, r, tasklog.Returned{Activities: 1})
	if err == nil || strings.Count(err.Error(), "not now") != 2 {
		t.Errorf("two of them failed: %v", err)
	}
	var again service
	restart(t, path, &again)
	same(t, again.failedTasks(), "workflows [] activities [away] queues [host:1]")
}

// The server lists the tasks whose poll was not answered before the kill.
func TestTasksThatOnlyTheServerKnowsAreGivenBackToo(t *testing.T) {
	path := newPath(t)
	dead := open(t, path)
	dead.call(&workflowservice.PollActivityTaskQueueRequest{Identity: "dead"}, activityTask("noted"), nil)
	dead.call(&workflowservice.PollWorkflowTaskQueueRequest{Identity: "dead"}, workflowTask(""), nil)
	next := open(t, path)
	next.log.Add(
		tasklog.Task{Token: []byte("w")},
		tasklog.Task{Activity: true, Token: []byte("a"), Identity: "dead"},
		tasklog.Task{Activity: true, Token: []byte("of another"), Identity: "another"},
	)
	var server service
	if _, err := next.log.GiveBack(t.Context(), &server, "space"); err != nil {
		t.Fatal(err)
	}
	same(t, server.failedTasks(), "workflows [w] activities [a noted] queues []")
}

func TestWithoutAProcessBeforeNoActivityIsItsOwn(t *testing.T) {
	w := open(t, newPath(t))
	w.log.Add(tasklog.Task{Activity: true, Token: []byte("a")})
	var server service
	if _, err := w.log.GiveBack(t.Context(), &server, "space"); err != nil {
		t.Fatal(err)
	}
	same(t, server.failedTasks(), "workflows [] activities [] queues []")
}

func TestALineThatAKillHasCutIsSkipped(t *testing.T) {
	path := newPath(t)
	dead := open(t, path)
	dead.takesActivity("whole")
	whole, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	dead.takesActivity("cut")
	if err := os.Truncate(path, whole.Size()+9); err != nil {
		t.Fatal(err)
	}
	var server service
	next, _ := restart(t, path, &server)
	same(t, server.failedTasks(), "workflows [] activities [whole] queues []")
	next.takesActivity("next")
	var again service
	restart(t, path, &again)
	same(t, again.failedTasks(), "workflows [] activities [next] queues []")
}

func TestTasksThatTheServerHasGivenUpLongAgoAreForgotten(t *testing.T) {
	path := newPath(t)
	line := fmt.Sprintf(`{"held":7,"kind":"activity","token":"eA==","until":%d}`, time.Now().Add(-time.Minute).Unix())
	if err := os.WriteFile(path, []byte(line+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var server service
	restart(t, path, &server)
	same(t, server.failedTasks(), "workflows [] activities [] queues []")
}

func TestTheFileStaysSmallAndLosesNothing(t *testing.T) {
	path := newPath(t)
	w := open(t, path)
	w.call(sticky("host:1"), workflowTask(""), nil)
	w.takesActivity("long")
	const most = 300 << 10
	for i := range 10_000 {
		token := fmt.Sprintf("%0200d", i)
		w.takesWorkflow(token)
		w.call(&workflowservice.RespondWorkflowTaskCompletedRequest{TaskToken: []byte(token)}, &workflowservice.RespondWorkflowTaskCompletedResponse{}, nil)
	}
	if info, err := os.Stat(path); err != nil || info.Size() > most {
		t.Errorf("the file has %d bytes: %v", info.Size(), err)
	}
	var server service
	restart(t, path, &server)
	same(t, server.failedTasks(), "workflows [] activities [long] queues [host:1]")
}

func TestAFileThatCannotBeWrittenHoldsUpNothingAndIsLoggedOnce(t *testing.T) {
	var out bytes.Buffer
	l, err := tasklog.Open(newPath(t), slog.New(slog.NewTextHandler(&out, nil)))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	w := worker{t, l}
	w.takesActivity("a1")
	w.takesActivity("a2")
	if n := strings.Count(out.String(), "tasks are not noted"); n != 1 {
		t.Errorf("%d lines:\n%s", n, &out)
	}
}

func TestWithoutALogNothingIsNoted(t *testing.T) {
	var l *tasklog.Log
	if l.Interceptor() != nil || l.Close() != nil {
		t.Error("there is something")
	}
	if r, err := l.GiveBack(t.Context(), &service{}, "space"); r != (tasklog.Returned{}) || err != nil {
		t.Errorf("%v, %v", r, err)
	}
}

func TestWorkersOfOneHostShareADirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	claim := func(host string) worker {
		t.Helper()
		l, err := tasklog.Claim(dir, host, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		return worker{t, l}
	}
	given := func(w worker) string {
		t.Helper()
		var server service
		if _, err := w.log.GiveBack(t.Context(), &server, "space"); err != nil {
			t.Fatal(err)
		}
		return server.failedTasks()
	}
	first := claim("one")
	first.takesActivity("of the first")
	second := claim("one")
	second.takesActivity("of the second")
	same(t, given(second), "workflows [] activities [] queues []")
	if err := first.log.Close(); err != nil { // as the kernel does when the process dies
		t.Fatal(err)
	}
	same(t, given(claim("two")), "workflows [] activities [] queues []")
	same(t, given(claim("one")), "workflows [] activities [of the first] queues []")
}

// BenchmarkTurn measures the records of a turn of model, tool, model: about eight tasks.
func BenchmarkTurn(b *testing.B) {
	const tasks = 8
	w := open(b, newPath(b))
	intercept := w.log.Interceptor()
	invoke := func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error { return nil }
	token := bytes.Repeat([]byte("t"), 180)
	poll, task := &workflowservice.PollActivityTaskQueueRequest{}, &workflowservice.PollActivityTaskQueueResponse{
		TaskToken: token, StartToCloseTimeout: durationpb.New(time.Minute), Input: &commonpb.Payloads{},
	}
	done, reply := &workflowservice.RespondActivityTaskCompletedRequest{TaskToken: token}, &workflowservice.RespondActivityTaskCompletedResponse{}
	for b.Loop() {
		for range tasks {
			if err := errors.Join(intercept(b.Context(), "/poll", poll, task, nil, invoke), intercept(b.Context(), "/done", done, reply, nil, invoke)); err != nil {
				b.Fatal(err)
			}
		}
	}
}
