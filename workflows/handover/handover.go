// Package handover runs calls in the mode of an agent (contract.Execution): as regular
// activities, as local ones, or, in mode auto, quick calls as local and slow ones as regular
// activities, depending on their actual duration.
//
// In mode auto a call starts in a local activity. If it ends before the workflow task must end,
// its result is in the marker, and the call costs no round trip. Otherwise the marker has a
// ticket (ticket.Ticket), and a regular activity joins the running call, on a queue that only
// the calling worker polls. That activity sends heartbeats, is visible with its summary, and
// cancels the call when it is cancelled. Package calls is the worker's side: it decides for how
// long a workflow task is held.
//
// A failed call that may be repeated is handed over too: the activity that joins it fails with
// the same error, so the pause and the number of attempts are those of a regular activity.
// Later attempts make the call again.
//
// If the worker has died, its successor in the same directory polls the queue, does not find
// the ticket and makes the call again. Without a successor, the activity times out, and one on
// the common queue makes the call again. So Run is only for calls that may be repeated: models,
// and tools that are not destructive.
//
// Once is for calls that must not be. Whoever makes one has claimed it outside of the history
// (activities.Claims), so that a call which is made again here is not sent again: it fails, and a
// person is asked. A worker hands over each such call that has failed, so that the activity has
// the failure, with its input.
package handover

import (
	"errors"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/ticket"
)

// joinTimeout is the time that the activity that joins a call waits for its worker. It exceeds
// the response time of any live worker, because the call is repeated after it.
const joinTimeout = 10 * time.Second

// Run makes a call that may be repeated, in the agent's mode. The options are those of a
// regular activity.
func Run[In, Out any](ctx workflow.Context, mode contract.Execution, a contract.Activity[In, Out], o workflow.ActivityOptions, in In) (out Out, err error) {
	switch mode {
	case contract.ExecutionLean:
		err = executeLocal(ctx, a, LocalOptions(o), in, &out)
	case contract.ExecutionAuto:
		return start(ctx, a, o, in, nil)
	default:
		err = execute(ctx, a, o, in, &out)
	}
	return out, err
}

// changeOnce marks histories in which calls that must not be repeated start in local activities.
const changeOnce = "destructive-calls-start-locally"

// Once makes a call that must not be repeated, and has been claimed. The options are those of a
// regular activity with one attempt.
func Once[In, Out any](ctx workflow.Context, mode contract.Execution, a contract.Activity[In, Out], o workflow.ActivityOptions, in In, call ticket.Once) (out Out, err error) {
	if mode == contract.ExecutionAuto && workflow.GetVersion(ctx, changeOnce, workflow.DefaultVersion, 1) == 1 {
		return start(ctx, a, o, in, &call)
	}
	err = execute(ctx, a, o, in, &out)
	return out, err
}

// start starts a call in a local activity, and joins it if that returns a ticket.
func start[In, Out any](ctx workflow.Context, a contract.Activity[In, Out], o workflow.ActivityOptions, in In, once *ticket.Once) (out Out, err error) {
	var started ticket.Started[Out]
	s := ticket.Start[In]{Input: in, Task: workflow.GetInfo(ctx).GetCurrentHistoryLength(), Once: once}
	err = executeLocal(ctx, ticket.StartOf(a), startOptions(o), s, &started)
	switch {
	case err != nil:
		return out, err
	case started.Result != nil:
		return *started.Result, nil
	}
	if t := started.Ticket; t != nil && t.Queue != "" {
		if err = execute(ctx, a, joinOptions(o, *t), in, &out); !workerGone(err) {
			return out, err
		}
	}
	err = execute(ctx, a, o, in, &out)
	return out, err
}

func execute[In, Out any](ctx workflow.Context, a contract.Activity[In, Out], o workflow.ActivityOptions, in In, out *Out) error {
	return workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, o), a.Name, in).Get(ctx, out)
}

func executeLocal[In, Out any](ctx workflow.Context, a contract.Activity[In, Out], o workflow.LocalActivityOptions, in In, out *Out) error {
	return workflow.ExecuteLocalActivity(workflow.WithLocalActivityOptions(ctx, o), a.Name, in).Get(ctx, out)
}

// LocalOptions converts the options of a regular activity to those of a local one.
func LocalOptions(o workflow.ActivityOptions) workflow.LocalActivityOptions {
	return workflow.LocalActivityOptions{
		StartToCloseTimeout: o.StartToCloseTimeout,
		// Without it the first attempt's timeout would also end the retries.
		ScheduleToCloseTimeout: time.Duration(o.RetryPolicy.MaximumAttempts)*o.StartToCloseTimeout + time.Minute,
		RetryPolicy:            o.RetryPolicy,
		Summary:                o.Summary,
	}
}

// startOptions returns options with the timeout of one attempt. The timeout also applies to a
// call that has been handed over.
func startOptions(o workflow.ActivityOptions) workflow.LocalActivityOptions {
	return workflow.LocalActivityOptions{
		StartToCloseTimeout: o.StartToCloseTimeout, Summary: o.Summary, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
	}
}

func joinOptions(o workflow.ActivityOptions, t ticket.Ticket) workflow.ActivityOptions {
	o.TaskQueue, o.ActivityID, o.ScheduleToStartTimeout = t.Queue, t.ID, joinTimeout
	return o
}

// workerGone reports whether err means that the queue of a ticket has no worker.
func workerGone(err error) bool {
	var timeout *temporal.TimeoutError
	return errors.As(err, &timeout) && timeout.TimeoutType() == enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START
}
