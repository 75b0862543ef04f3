package tasklog

import (
	"context"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
)

const (
	// workflowTaskTime is longer than any server lets a workflow task take.
	workflowTaskTime = 15 * time.Minute
	// margin allows for clocks that disagree.
	margin = time.Minute
)

// Interceptor returns an interceptor for the worker's connection, which changes neither
// requests nor replies. For a nil Log it is nil.
func (l *Log) Interceptor() grpc.UnaryClientInterceptor {
	if l == nil {
		return nil
	}
	return l.intercept
}

func (l *Log) intercept(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, o ...grpc.CallOption) error {
	switch poll := req.(type) {
	case *workflowservice.PollWorkflowTaskQueueRequest:
		l.recordPoll(poll.GetIdentity(), stickyName(poll.GetTaskQueue()))
	case *workflowservice.PollActivityTaskQueueRequest:
		l.recordPoll(poll.GetIdentity(), "")
	}
	err := invoke(ctx, method, req, reply, cc, o...)
	if err == nil || unknown(err) {
		l.observe(req, reply, err == nil)
	}
	return err
}

func stickyName(q *taskqueuepb.TaskQueue) string {
	if q.GetKind() == enumspb.TASK_QUEUE_KIND_STICKY {
		return q.GetName()
	}
	return ""
}

// observe records the effect of a completed call on tasks. ok means that it has succeeded; else
// the server does not know its task any more.
func (l *Log) observe(req, reply any, ok bool) {
	answered, taken := answeredTask(req), []task(nil)
	if ok {
		taken = tasksIn(reply)
		if end, is := req.(*workflowservice.ShutdownWorkerRequest); is && end.GetStickyTaskQueue() != "" {
			l.recordShutdown(end.GetStickyTaskQueue())
		}
	}
	if answered != nil || taken != nil {
		l.recordTasks(answered, taken...)
	}
}

// answeredTask returns the token of the task that a request completes, or nil.
func answeredTask(req any) []byte {
	switch r := req.(type) {
	case *workflowservice.RespondWorkflowTaskCompletedRequest:
		if !r.GetIntermediatePage() {
			return r.GetTaskToken()
		}
	case *workflowservice.RespondWorkflowTaskFailedRequest:
		return r.GetTaskToken()
	case *workflowservice.RespondActivityTaskCompletedRequest:
		return r.GetTaskToken()
	case *workflowservice.RespondActivityTaskFailedRequest:
		return r.GetTaskToken()
	case *workflowservice.RespondActivityTaskCanceledRequest:
		return r.GetTaskToken()
	}
	return nil
}

// tasksIn returns the tasks in a reply.
func tasksIn(reply any) []task {
	switch r := reply.(type) {
	case *workflowservice.PollWorkflowTaskQueueResponse:
		return workflowTasks(r)
	case *workflowservice.PollActivityTaskQueueResponse:
		return activityTasks(r)
	case *workflowservice.RespondWorkflowTaskCompletedResponse:
		return append(workflowTasks(r.GetWorkflowTask()), activityTasks(r.GetActivityTasks()...)...)
	case *workflowservice.StartWorkflowExecutionResponse:
		return workflowTasks(r.GetEagerWorkflowTask())
	}
	return nil
}

// workflowTasks returns the task in a reply. It ignores empty polls, and queries, which their
// senders repeat.
func workflowTasks(r *workflowservice.PollWorkflowTaskQueueResponse) []task {
	if len(r.GetTaskToken()) == 0 || r.GetQuery() != nil {
		return nil
	}
	return []task{{kind: workflowTask, token: r.GetTaskToken(), until: time.Now().Add(workflowTaskTime).Unix()}}
}

func activityTasks(rs ...*workflowservice.PollActivityTaskQueueResponse) (out []task) {
	for _, r := range rs {
		if len(r.GetTaskToken()) == 0 {
			continue
		}
		t := task{kind: activityTask, token: r.GetTaskToken()}
		if limit := r.GetStartToCloseTimeout().AsDuration(); limit > 0 {
			t.until = time.Now().Add(limit + margin).Unix()
		}
		out = append(out, t)
	}
	return out
}

// unknown reports whether the server does not know the task.
func unknown(err error) bool { return serviceerror.ToStatus(err).Code() == codes.NotFound }
