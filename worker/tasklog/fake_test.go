package tasklog_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"agent-stop-and-go/worker/tasklog"
)

// worker is a process with a log. The calls of its SDK pass through the interceptor.
type worker struct {
	t   testing.TB
	log *tasklog.Log
}

func open(t testing.TB, path string) worker {
	t.Helper()
	l, err := tasklog.Open(path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return worker{t, l}
}

func newPath(t testing.TB) string { return filepath.Join(t.TempDir(), "tasks.log") }

// call makes a call that is answered with reply, or fails with err.
func (w worker) call(req, reply proto.Message, err error) {
	w.t.Helper()
	into := reply.ProtoReflect().New().Interface()
	got := w.log.Interceptor()(w.t.Context(), "/m", req, into, nil, func(_ context.Context, _ string, _, out any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
		proto.Merge(out.(proto.Message), reply)
		return err
	})
	if !errors.Is(got, err) || !proto.Equal(into, reply) {
		w.t.Fatalf("the call came back as %v, %v", into, got)
	}
}

func (w worker) takesWorkflow(token string) {
	w.t.Helper()
	w.call(&workflowservice.PollWorkflowTaskQueueRequest{}, workflowTask(token), nil)
}

func (w worker) takesActivity(token string) {
	w.t.Helper()
	w.call(&workflowservice.PollActivityTaskQueueRequest{}, activityTask(token), nil)
}

func workflowTask(token string) *workflowservice.PollWorkflowTaskQueueResponse {
	return &workflowservice.PollWorkflowTaskQueueResponse{TaskToken: []byte(token)}
}

func activityTask(token string) *workflowservice.PollActivityTaskQueueResponse {
	return &workflowservice.PollActivityTaskQueueResponse{TaskToken: []byte(token), StartToCloseTimeout: durationpb.New(time.Minute)}
}

// service is a Temporal server that records which tasks were failed.
type service struct {
	mu         sync.Mutex
	workflows  []string
	activities []string
	queues     []string
	causes     []enumspb.WorkflowTaskFailedCause
	failures   []*failurepb.Failure
	namespaces []string
	err        func(token string) error
}

func (s *service) answer(token string) error {
	if s.err == nil {
		return nil
	}
	return s.err(token)
}

func (s *service) RespondWorkflowTaskFailed(_ context.Context, r *workflowservice.RespondWorkflowTaskFailedRequest, _ ...grpc.CallOption) (*workflowservice.RespondWorkflowTaskFailedResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.workflows, s.causes, s.namespaces = append(s.workflows, string(r.TaskToken)), append(s.causes, r.Cause), append(s.namespaces, r.Namespace)
	return &workflowservice.RespondWorkflowTaskFailedResponse{}, s.answer(string(r.TaskToken))
}

func (s *service) RespondActivityTaskFailed(_ context.Context, r *workflowservice.RespondActivityTaskFailedRequest, _ ...grpc.CallOption) (*workflowservice.RespondActivityTaskFailedResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.activities, s.failures, s.namespaces = append(s.activities, string(r.TaskToken)), append(s.failures, r.Failure), append(s.namespaces, r.Namespace)
	return &workflowservice.RespondActivityTaskFailedResponse{}, s.answer(string(r.TaskToken))
}

func (s *service) ShutdownWorker(_ context.Context, r *workflowservice.ShutdownWorkerRequest, _ ...grpc.CallOption) (*workflowservice.ShutdownWorkerResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queues, s.namespaces = append(s.queues, r.StickyTaskQueue), append(s.namespaces, r.Namespace)
	return &workflowservice.ShutdownWorkerResponse{}, s.answer(r.StickyTaskQueue)
}

// failedTasks returns the failed tasks and the closed queues, sorted.
func (s *service) failedTasks() string {
	slices.Sort(s.workflows)
	slices.Sort(s.activities)
	return fmt.Sprintf("workflows %v activities %v queues %v", s.workflows, s.activities, s.queues)
}

// restart opens the log of a process that has died, and gives its tasks back.
func restart(t *testing.T, path string, s *service) (worker, tasklog.Returned) {
	t.Helper()
	w := open(t, path)
	r, err := w.log.GiveBack(t.Context(), s, "space")
	if err != nil {
		t.Fatal(err)
	}
	return w, r
}

func same(t *testing.T, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}
