package snapshot

import (
	"context"
	"hash/maphash"
	"sync/atomic"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
)

// Changes counts, for each workflow, the requests that this process sends to it and the tasks
// that this process's worker gets for it. Workflows may share a counter. The zero value is
// ready to use.
type Changes struct {
	counts [1024]atomic.Uint64
}

var seed = maphash.MakeSeed()

func (c *Changes) of(workflowID string) *atomic.Uint64 {
	return &c.counts[maphash.String(seed, workflowID)%uint64(len(c.counts))]
}

// Count returns the count of a workflow, or 0 for nil Changes.
func (c *Changes) Count(workflowID string) uint64 {
	if c == nil {
		return 0
	}
	return c.of(workflowID).Load()
}

// Interceptor returns an interceptor that counts the calls of a connection.
func (c *Changes) Interceptor() grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, o ...grpc.CallOption) error {
		err := invoke(ctx, method, req, reply, cc, o...)
		switch r := reply.(type) {
		case *workflowservice.PollWorkflowTaskQueueResponse:
			c.add(task(r))
		case *workflowservice.RespondWorkflowTaskCompletedResponse:
			c.add(task(r.GetWorkflowTask()))
		default:
			c.add(target(req))
		}
		return err
	}
}

func (c *Changes) add(w *commonpb.WorkflowExecution) {
	if id := w.GetWorkflowId(); id != "" {
		c.of(id).Add(1)
	}
}

// task returns the workflow of a task that a worker gets, unless the task is a query, which
// changes nothing.
func task(r *workflowservice.PollWorkflowTaskQueueResponse) *commonpb.WorkflowExecution {
	if r.GetQuery() != nil {
		return nil
	}
	return r.GetWorkflowExecution()
}

// target returns the workflow that a request signals, updates, resets or ends. Requests that
// only read have another field for it.
func target(req any) *commonpb.WorkflowExecution {
	if r, ok := req.(interface {
		GetWorkflowExecution() *commonpb.WorkflowExecution
	}); ok {
		return r.GetWorkflowExecution()
	}
	return nil
}
