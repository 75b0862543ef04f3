package encryption

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"agent-stop-and-go/workflows/contract"
)

const (
	// retryDelay is the time until the next attempt of an activity, which another worker may get.
	retryDelay = 20 * time.Second
	logPause   = 10 * time.Second
)

// returns gives tasks back to the server that cannot be read here.
type returns struct {
	logger *slog.Logger
	mu     sync.Mutex
	logged time.Time
}

// give gives back the task in a response and removes it from there. It reports whether the
// response was one that brings tasks.
func (r *returns) give(ctx context.Context, c call, problem error) bool {
	switch reply := c.reply.(type) {
	case *workflowservice.PollWorkflowTaskQueueResponse:
		r.log(r.workflowTask(ctx, c, reply, problem), problem)
		proto.Reset(reply)
	case *workflowservice.RespondWorkflowTaskCompletedResponse: // its activities are those of the request
		r.log(r.workflowTask(ctx, c, reply.GetWorkflowTask(), problem), problem)
		reply.WorkflowTask = nil
	case *workflowservice.PollActivityTaskQueueResponse:
		r.log(r.activityTask(ctx, c, reply, problem), problem)
		proto.Reset(reply)
	default:
		return false
	}
	return true
}

// log logs a problem, at most one every few seconds.
func (r *returns) log(err, problem error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := time.Now(); now.Sub(r.logged) >= logPause {
		r.logged = now
		r.logger.Error("a task is given back: "+problem.Error(), "error", err)
	}
}

// errLeft is for the log.
var errLeft = errors.New("an earlier attempt may have run, so this one is left to its timeout")

type namespaced interface{ GetNamespace() string }

func (*returns) workflowTask(ctx context.Context, c call, t *workflowservice.PollWorkflowTaskQueueResponse, problem error) error {
	namespace := c.req.(namespaced).GetNamespace()
	if t.GetQuery() != nil {
		return c.do(ctx, "RespondQueryTaskCompleted", &workflowservice.RespondQueryTaskCompletedRequest{
			Namespace: namespace, TaskToken: t.GetTaskToken(), CompletedType: enumspb.QUERY_RESULT_TYPE_FAILED, ErrorMessage: problem.Error(),
		}, &workflowservice.RespondQueryTaskCompletedResponse{})
	}
	return c.do(ctx, "RespondWorkflowTaskFailed", &workflowservice.RespondWorkflowTaskFailedRequest{
		Namespace: namespace, TaskToken: t.GetTaskToken(), Cause: enumspb.WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE,
		Failure: &failurepb.Failure{Message: problem.Error()},
	}, &workflowservice.RespondWorkflowTaskFailedResponse{})
}

// activityTask fails an attempt with a kind that says that nothing has run, and tells the next
// attempt so. If the attempt before has ended without a report, something may have run: then this
// one is left to its timeout, which says that nothing is known.
func (*returns) activityTask(ctx context.Context, c call, t *workflowservice.PollActivityTaskQueueResponse, problem error) error {
	if lostBefore(t) {
		return errLeft
	}
	details, err := converter.GetDefaultDataConverter().ToPayloads(t.GetAttempt())
	if err != nil { // numbers can be encoded
		return err
	}
	return c.do(ctx, "RespondActivityTaskFailed", &workflowservice.RespondActivityTaskFailedRequest{
		Namespace: c.req.(namespaced).GetNamespace(), TaskToken: t.GetTaskToken(), LastHeartbeatDetails: details,
		Failure: &failurepb.Failure{
			Message: problem.Error(),
			FailureInfo: &failurepb.Failure_ApplicationFailureInfo{ApplicationFailureInfo: &failurepb.ApplicationFailureInfo{
				Type: string(contract.KindToolUnavailable), NextRetryDelay: durationpb.New(retryDelay),
			}},
		},
	}, &workflowservice.RespondActivityTaskFailedResponse{})
}

// lostBefore reports whether the attempt before has not said, with its number as details of its
// last heartbeat, that it sent nothing. Activities that must know use the same form.
func lostBefore(t *workflowservice.PollActivityTaskQueueResponse) bool {
	var last int32
	err := converter.GetDefaultDataConverter().FromPayloads(t.GetHeartbeatDetails(), &last)
	return t.GetAttempt() > 1 && (err != nil || last != t.GetAttempt()-1)
}
