package tasklog

import (
	"context"
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/api/workflowservice/v1"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"

	"agent-stop-and-go/workflows/contract"
)

// Service is the part of Temporal's service that GiveBack uses.
type Service interface {
	RespondWorkflowTaskFailed(context.Context, *workflowservice.RespondWorkflowTaskFailedRequest, ...grpc.CallOption) (*workflowservice.RespondWorkflowTaskFailedResponse, error)
	RespondActivityTaskFailed(context.Context, *workflowservice.RespondActivityTaskFailedRequest, ...grpc.CallOption) (*workflowservice.RespondActivityTaskFailedResponse, error)
	ShutdownWorker(context.Context, *workflowservice.ShutdownWorkerRequest, ...grpc.CallOption) (*workflowservice.ShutdownWorkerResponse, error)
}

// Returned counts the tasks of the previous process that the server still waited for.
type Returned struct{ Workflows, Activities int }

const (
	atOnce         = 16
	identity       = "the process after"
	giveBackReason = "no answer in time: the worker's process ended first"
	// retrySoon is the pause before the next attempt. Zero would mean the retry policy's.
	retrySoon = time.Millisecond
)

// Task is a task that a worker holds according to the server.
type Task struct {
	Activity bool
	Token    []byte
	Identity string // of the worker; may be empty for a workflow task
}

// Add adds tasks that the server lists to those of the previous process, so that tasks are
// given back whose poll was not answered before the kill. Activities of other workers are
// ignored, because those may be running them. Workflow tasks are not: giving one back while a
// worker runs it only repeats its decisions.
func (l *Log) Add(started ...Task) {
	if l == nil {
		return
	}
	for _, t := range started {
		switch {
		case !t.Activity:
			l.lostTasks = append(l.lostTasks, task{kind: workflowTask, token: t.Token})
		case l.deadPoller != "" && t.Identity == l.deadPoller:
			l.lostTasks = append(l.lostTasks, task{kind: activityTask, token: t.Token})
		}
	}
}

// GiveBack reports to the server that the previous process is dead: its sticky queues are not
// polled any more, and the tasks that it held have failed. Call it before the worker polls.
// Tasks that could not be reported remain recorded for the next start.
func (l *Log) GiveBack(ctx context.Context, s Service, namespace string) (Returned, error) {
	if l == nil {
		return Returned{}, nil
	}
	var errs []error
	for _, queue := range l.staleQueues {
		errs = append(errs, l.abandon(ctx, s, namespace, queue))
	}
	outcomes := make([]bool, len(l.lostTasks))
	failures := make([]error, len(l.lostTasks))
	var calls errgroup.Group
	calls.SetLimit(atOnce)
	for i, t := range l.lostTasks {
		calls.Go(func() error {
			outcomes[i], failures[i] = l.fail(ctx, s, namespace, t)
			return nil
		})
	}
	errs = append(errs, calls.Wait())
	var r Returned
	for i, t := range l.lostTasks {
		switch {
		case !outcomes[i]:
		case t.kind == workflowTask:
			r.Workflows++
		default:
			r.Activities++
		}
	}
	l.lostTasks, l.staleQueues = nil, nil
	return r, errors.Join(append(errs, failures...)...)
}

func (l *Log) abandon(ctx context.Context, s Service, namespace, queue string) error {
	_, err := s.ShutdownWorker(ctx, &workflowservice.ShutdownWorkerRequest{
		Namespace: namespace, StickyTaskQueue: queue, Identity: identity, Reason: giveBackReason,
	})
	if err != nil {
		return fmt.Errorf("give up sticky queue %s: %w", queue, err)
	}
	l.recordShutdown(queue)
	return nil
}

// fail reports whether the server still waited for the task.
func (l *Log) fail(ctx context.Context, s Service, namespace string, t task) (waited bool, err error) {
	switch t.kind {
	case workflowTask:
		_, err = s.RespondWorkflowTaskFailed(ctx, &workflowservice.RespondWorkflowTaskFailedRequest{
			Namespace: namespace, TaskToken: t.token, Identity: identity,
			Cause:   enumspb.WORKFLOW_TASK_FAILED_CAUSE_RESET_STICKY_TASK_QUEUE,
			Failure: &failurepb.Failure{Message: giveBackReason},
		})
	default:
		_, err = s.RespondActivityTaskFailed(ctx, &workflowservice.RespondActivityTaskFailedRequest{
			Namespace: namespace, TaskToken: t.token, Identity: identity, Failure: heartbeatMissed(),
		})
	}
	if err != nil && !unknown(err) {
		return false, fmt.Errorf("give back a task (%s): %w", t.kind, err)
	}
	l.recordTasks(t.token)
	return err == nil, nil
}

// heartbeatMissed is the failure of an activity whose worker is gone. Workflows read the
// timeout in it; only the failure around that can ask for a retry at once.
func heartbeatMissed() *failurepb.Failure {
	timeout := &failurepb.TimeoutFailureInfo{TimeoutType: enumspb.TIMEOUT_TYPE_HEARTBEAT}
	return &failurepb.Failure{
		Message: giveBackReason,
		Cause:   &failurepb.Failure{Message: giveBackReason, FailureInfo: &failurepb.Failure_TimeoutFailureInfo{TimeoutFailureInfo: timeout}},
		FailureInfo: &failurepb.Failure_ApplicationFailureInfo{ApplicationFailureInfo: &failurepb.ApplicationFailureInfo{
			Type: string(contract.KindTimeout), NextRetryDelay: durationpb.New(retrySoon),
		}},
	}
}
