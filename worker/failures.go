package worker

import (
	"context"
	"errors"
	"strings"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/telemetry"
)

// counted counts the failed attempts of an activity, and logs each as one line.
func counted[In, Out any](a contract.Activity[In, Out], method func(context.Context, In) (Out, error)) func(context.Context, In) (Out, error) {
	return func(ctx context.Context, in In) (Out, error) {
		out, err := method(ctx, in)
		if kind := kindOf(err); kind != "" {
			telemetry.Failure(ctx, a.Name, kind)
			logFailure(ctx, a.Name, sessionOf(in), kind, err)
		}
		return out, err
	}
}

// kindOf returns the kind of an activity's failure. A cancellation is none.
func kindOf(err error) contract.Kind {
	var failed *temporal.ApplicationError
	switch {
	case err == nil || errors.Is(err, context.Canceled) || temporal.IsCanceledError(err):
		return ""
	case errors.As(err, &failed) && failed.Type() != "":
		return contract.Kind(failed.Type())
	}
	return contract.KindInternal
}

// logFailure logs a failed attempt. The workflow of a node inside a tree has the ID of its
// conversation in front.
func logFailure(ctx context.Context, name, session string, kind contract.Kind, err error) {
	if !activity.IsActivity(ctx) {
		return
	}
	info := activity.GetInfo(ctx)
	root, _, _ := strings.Cut(info.WorkflowExecution.ID, "/")
	conversation, _ := contract.ConversationIDOf(root)
	activity.GetLogger(ctx).Warn(telemetry.LogFailure, "activity", name, "attempt", info.Attempt, "conversation", conversation,
		"sid", session, "trace", telemetry.TraceID(ctx), "kind", string(kind), "error", err)
}

// sessionOf returns the session for which an activity calls a tool or another agent. Others have none
// in their input.
func sessionOf(in any) string {
	switch in := in.(type) {
	case contract.CallToolInput:
		return in.SessionID
	case contract.DelegateInput:
		return in.SessionID
	}
	return ""
}
