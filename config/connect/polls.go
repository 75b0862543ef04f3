package connect

import (
	"context"
	"sync"

	enumspb "go.temporal.io/api/enums/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
)

// polls sees to it that requests of each worker wait for workflow tasks of both its queues: the
// normal one, and the sticky one for workflows that it has in memory.
//
// The SDK's pollers choose a queue for each request, and all choose the sticky one while it is said
// to have a backlog. The last reply says that, which may come after those for the tasks of that
// backlog. Then all of them wait for sticky tasks, for up to a minute, while normal ones lie there,
// such as the first of each approval.
//
// A worker with autoscaling pollers has some for each queue. But each of their requests begins a
// goroutine, and with eight for each queue an approval takes 7 % more processor time.
type polls struct {
	mu      sync.Mutex
	waiting map[workerQueue]*waiting
}

// workerQueue is the normal queue of a worker.
type workerQueue struct{ worker, name string }

// waiting are the requests of a worker that wait.
type waiting struct {
	count  map[enumspb.TaskQueueKind]int
	sticky *taskqueuepb.TaskQueue // nil until a request has named it
}

func newPolls() *polls { return &polls{waiting: map[workerQueue]*waiting{}} }

// Intercept is a grpc.UnaryClientInterceptor. A request is sent to the other queue if none waits
// there, and another waits at its own.
func (p *polls) Intercept(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	r, ok := req.(*workflowservice.PollWorkflowTaskQueueRequest)
	if !ok {
		return invoke(ctx, method, req, reply, conn, opts...)
	}
	queue, end := p.begin(r)
	defer end()
	if queue == r.GetTaskQueue() {
		return invoke(ctx, method, req, reply, conn, opts...)
	}
	r = proto.CloneOf(r) // the SDK counts its own
	r.TaskQueue = queue
	err := invoke(ctx, method, r, reply, conn, opts...)
	if r, ok := reply.(*workflowservice.PollWorkflowTaskQueueResponse); ok {
		r.BacklogCountHint = 0 // it is that of the other queue
	}
	return err
}

// begin counts a request that waits until end is called, and returns the queue for it.
func (p *polls) begin(r *workflowservice.PollWorkflowTaskQueueRequest) (queue *taskqueuepb.TaskQueue, end func()) {
	queue = r.GetTaskQueue()
	key := workerQueue{r.GetWorkerInstanceKey(), queue.GetName()}
	sticky := queue.GetKind() == enumspb.TASK_QUEUE_KIND_STICKY
	if sticky {
		key.name = queue.GetNormalName()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.waiting[key]
	if w == nil {
		w = &waiting{count: map[enumspb.TaskQueueKind]int{}}
		p.waiting[key] = w
	}
	other := w.sticky
	if sticky {
		w.sticky, other = queue, &taskqueuepb.TaskQueue{Name: key.name, Kind: enumspb.TASK_QUEUE_KIND_NORMAL}
	}
	if other != nil && w.count[queue.GetKind()] > 0 && w.count[other.GetKind()] == 0 {
		queue = other
	}
	kind := queue.GetKind()
	w.count[kind]++
	return queue, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if w.count[kind]--; w.count[enumspb.TASK_QUEUE_KIND_NORMAL]+w.count[enumspb.TASK_QUEUE_KIND_STICKY] == 0 {
			delete(p.waiting, key)
		}
	}
}
