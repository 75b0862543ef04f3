package connect_test

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"google.golang.org/grpc"

	"agent-stop-and-go/config/connect"
)

const (
	normal = enumspb.TASK_QUEUE_KIND_NORMAL
	sticky = enumspb.TASK_QUEUE_KIND_STICKY
)

// matching is a Temporal server that hands out the tasks that a test gives it.
type matching struct {
	workflowservice.UnimplementedWorkflowServiceServer
	tasks map[enumspb.TaskQueueKind]chan backlog

	mu      sync.Mutex
	waiting map[enumspb.TaskQueueKind]int // requests
}

// backlog is how many more tasks a queue is said to have, with a task.
type backlog int64

func (*matching) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{}, nil
}

func (*matching) DescribeNamespace(context.Context, *workflowservice.DescribeNamespaceRequest) (*workflowservice.DescribeNamespaceResponse, error) {
	return &workflowservice.DescribeNamespaceResponse{}, nil
}

func (m *matching) PollActivityTaskQueue(ctx context.Context, _ *workflowservice.PollActivityTaskQueueRequest) (*workflowservice.PollActivityTaskQueueResponse, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// PollWorkflowTaskQueue hands out tasks of a workflow that the worker does not know, and cannot fail either.
func (m *matching) PollWorkflowTaskQueue(ctx context.Context, r *workflowservice.PollWorkflowTaskQueueRequest) (*workflowservice.PollWorkflowTaskQueueResponse, error) {
	kind := r.GetTaskQueue().GetKind()
	if kind == normal && r.GetTaskQueue().GetName() != "q" || kind == sticky && r.GetTaskQueue().GetNormalName() != "q" {
		return nil, context.Canceled
	}
	m.count(kind, 1)
	select {
	case b := <-m.tasks[kind]: // which counts the request no more
		return &workflowservice.PollWorkflowTaskQueueResponse{
			TaskToken: []byte("task"), WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: "w", RunId: "r"},
			WorkflowType: &commonpb.WorkflowType{Name: "unknown"}, StartedEventId: 3, Attempt: 1, BacklogCountHint: int64(b),
		}, nil
	case <-ctx.Done():
		m.count(kind, -1)
		return nil, ctx.Err()
	}
}

func (m *matching) count(kind enumspb.TaskQueueKind, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waiting[kind] += n
}

func (m *matching) counts() (atNormal, atSticky int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.waiting[normal], m.waiting[sticky]
}

// give hands a task to a request that waits.
func (m *matching) give(t *testing.T, kind enumspb.TaskQueueKind, more backlog) {
	t.Helper()
	select {
	case m.tasks[kind] <- more:
		m.count(kind, -1)
	case <-time.After(10 * time.Second):
		t.Fatalf("no request waits for tasks of the queue of kind %s", kind)
	}
}

// start serves until the test ends, and returns the settings of a client.
func (m *matching) start(t *testing.T) client.Options {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer()
	workflowservice.RegisterWorkflowServiceServer(s, m)
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	o, err := connect.Settings(connect.Options{Embedded: true, Address: l.Addr().String(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// Without that, all of a worker's requests wait for tasks of the sticky queue once the last of its tasks came
// with word of more, and new approvals wait for a minute.
func TestRequestsWaitForTasksOfBothQueuesWhateverTheBacklog(t *testing.T) {
	for _, pollers := range []int{2, 8} {
		m := &matching{
			tasks:   map[enumspb.TaskQueueKind]chan backlog{normal: make(chan backlog), sticky: make(chan backlog)},
			waiting: map[enumspb.TaskQueueKind]int{},
		}
		c, err := client.Dial(m.start(t))
		if err != nil {
			t.Fatal(err)
		}
		w := worker.New(c, "q", worker.Options{MaxConcurrentWorkflowTaskPollers: pollers})
		if err := w.Start(); err != nil {
			t.Fatal(err)
		}
		bothWait := func(after string) {
			t.Helper()
			for late := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
				atNormal, atSticky := m.counts()
				if atNormal+atSticky == pollers && atNormal > 0 && atSticky > 0 {
					return
				}
				if time.Now().After(late) {
					t.Fatalf("%d requests wait for normal tasks and %d for sticky ones of %d, after %s", atNormal, atSticky, pollers, after)
				}
			}
		}
		bothWait("the start")
		for range 2 * pollers {
			m.give(t, sticky, 10)
			bothWait("a sticky task of many")
			m.give(t, normal, 10)
			bothWait("a normal task")
			m.give(t, sticky, 0)
			bothWait("the last sticky task")
		}
		w.Stop()
		c.Close()
	}
}
