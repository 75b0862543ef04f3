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
	// margin allows for clocks that differ.
	margin = time.Minute
)

// Interceptor is for the worker's connection. It changes nothing that passes. That of a nil
// Log is nil.
func (l *Log) Interceptor() grpc.UnaryClientInterceptor {
	if l == nil {
		return nil
	}
	return l.intercept
}

func (l *Log) intercept(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, o ...grpc.CallOption) error {
	switch poll := req.(type) {
	case *workflowservice.PollWorkflowTaskQueueRequest:
		l.polls(poll.GetIdentity(), stickyName(poll.GetTaskQueue()))
	case *workflowservice.PollActivityTaskQueueRequest:
		l.polls(poll.GetIdentity(), "")
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

// observe notes what a call that has come to an end means for tasks. ok: it has succeeded;
// else the server does not know its task any more.
func (l *Log) observe(req, reply any, ok bool) {
	answered, taken := answeredBy(req), []task(nil)
	if ok {
		taken = takenWith(reply)
		if end, is := req.(*workflowservice.ShutdownWorkerRequest); is && end.GetStickyTaskQueue() != "" {
			l.leaves(end.GetStickyTaskQueue())
		}
	}
	if answered != nil || taken != nil {
		l.note(answered, taken...)
	}
}

// answeredBy is the token of the task that a request answers, or nil.
func answeredBy(req any) []byte {
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

// takenWith are the tasks that come with a reply.
func takenWith(reply any) []task {
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

// workflowTasks leaves out polls that brought nothing, and queries, whose senders ask again.
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

// unknown reports whether the server has not got a task, or not any more.
func unknown(err error) bool { return serviceerror.ToStatus(err).Code() == codes.NotFound }
