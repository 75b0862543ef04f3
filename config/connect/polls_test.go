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
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
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
	taken chan struct{} // once a task's request is counted no more

	mu      sync.Mutex
	waiting map[string]map[enumspb.TaskQueueKind]int // requests, by the key of a worker
	owners  map[string]string                        // the worker whose sticky queue it is, by name
	strange bool                                     // a worker has asked for tasks of another's sticky queue
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
	worker := r.GetWorkerInstanceKey()
	m.count(worker, r.GetTaskQueue(), 1)
	select {
	case b := <-m.tasks[kind]:
		m.count(worker, r.GetTaskQueue(), -1)
		m.taken <- struct{}{}
		return &workflowservice.PollWorkflowTaskQueueResponse{
			TaskToken: []byte("task"), WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: "w", RunId: "r"},
			WorkflowType: &commonpb.WorkflowType{Name: "unknown"}, StartedEventId: 3, Attempt: 1, BacklogCountHint: int64(b),
		}, nil
	case <-ctx.Done():
		m.count(worker, r.GetTaskQueue(), -1)
		return nil, ctx.Err()
	}
}

func (m *matching) count(worker string, queue *taskqueuepb.TaskQueue, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.waiting[worker] == nil {
		m.waiting[worker] = map[enumspb.TaskQueueKind]int{}
	}
	m.waiting[worker][queue.GetKind()] += n
	if queue.GetKind() == sticky {
		owner, known := m.owners[queue.GetName()]
		m.owners[queue.GetName()], m.strange = worker, m.strange || known && owner != worker
	}
}

// wait reports whether all requests of the workers wait, some for each queue.
func (m *matching) wait(workers, pollers int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, w := range m.waiting {
		if w[normal]+w[sticky] != pollers || w[normal] == 0 || w[sticky] == 0 {
			return false
		}
	}
	return len(m.waiting) == workers
}

// give hands a task to a request that waits.
func (m *matching) give(t *testing.T, kind enumspb.TaskQueueKind, more backlog) {
	t.Helper()
	select {
	case m.tasks[kind] <- more:
		<-m.taken
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
	for _, c := range []struct{ workers, pollers int }{{1, 2}, {1, 8}, {2, 2}} {
		m := &matching{
			tasks:   map[enumspb.TaskQueueKind]chan backlog{normal: make(chan backlog), sticky: make(chan backlog)},
			taken:   make(chan struct{}),
			waiting: map[string]map[enumspb.TaskQueueKind]int{}, owners: map[string]string{},
		}
		sdk, err := client.Dial(m.start(t))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(sdk.Close)
		for range c.workers {
			w := worker.New(sdk, "q", worker.Options{MaxConcurrentWorkflowTaskPollers: c.pollers})
			if err := w.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(w.Stop)
		}
		bothWait := func(after string) {
			t.Helper()
			for late := time.Now().Add(10 * time.Second); !m.wait(c.workers, c.pollers); time.Sleep(time.Millisecond) {
				if time.Now().After(late) {
					m.mu.Lock()
					defer m.mu.Unlock()
					t.Fatalf("after %s, of %d requests of each worker wait %v", after, c.pollers, m.waiting)
				}
			}
		}
		bothWait("the start")
		for range 2 * c.workers * c.pollers {
			m.give(t, sticky, 10)
			bothWait("a sticky task of many")
			m.give(t, normal, 10)
			bothWait("a normal task")
			m.give(t, sticky, 0)
			bothWait("the last sticky task")
		}
		if m.mu.Lock(); m.strange {
			t.Error("a worker has asked for tasks of workflows that another has in memory")
		}
		m.mu.Unlock()
	}
}
