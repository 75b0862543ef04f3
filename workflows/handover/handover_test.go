package handover_test

import (
	"context"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/ticket"
	"agent-stop-and-go/workflows/handover"
)

var ask = contract.Activity[string, string]{Name: "ask"}

// result runs a call whose local activity returns started, and whose regular activities call
// regular.
func result(t *testing.T, started ticket.Started[string], regular func(activity.Info) (string, error)) (string, error) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.RegisterActivityWithOptions(func(_ context.Context, in ticket.Start[string]) (ticket.Started[string], error) {
		if in.Input != "question" {
			t.Errorf("started with %q", in.Input)
		}
		return started, nil
	}, activity.RegisterOptions{Name: ticket.StartOf(ask).Name})
	env.RegisterActivityWithOptions(func(ctx context.Context, in string) (string, error) {
		if in != "question" {
			t.Errorf("called with %q", in)
		}
		return regular(activity.GetInfo(ctx))
	}, activity.RegisterOptions{Name: ask.Name})
	env.ExecuteWorkflow(func(ctx workflow.Context) (string, error) {
		return handover.Run(ctx, contract.ExecutionAuto, ask, workflow.ActivityOptions{
			StartToCloseTimeout: time.Minute, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 3},
		}, "question")
	})
	if err := env.GetWorkflowError(); err != nil {
		return "", err
	}
	var out string
	return out, env.GetWorkflowResult(&out)
}

func TestAResultNeedsNoActivity(t *testing.T) {
	quick := "at once"
	out, err := result(t, ticket.Started[string]{Result: &quick}, func(activity.Info) (string, error) {
		t.Error("it was called again")
		return "", nil
	})
	if out != quick || err != nil {
		t.Errorf("%q, %v", out, err)
	}
}

func TestATicketIsJoinedOnItsQueue(t *testing.T) {
	out, err := result(t, ticket.Started[string]{Ticket: &ticket.Ticket{Queue: "own", ID: "t1"}}, func(i activity.Info) (string, error) {
		return i.TaskQueue + " " + i.ActivityID, nil
	})
	if out != "own t1" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
}

func TestACallThatWasNotStartedIsMadeOnTheCommonQueue(t *testing.T) {
	out, err := result(t, ticket.Started[string]{Ticket: &ticket.Ticket{}}, func(i activity.Info) (string, error) {
		return "answer", own(i)
	})
	if out != "answer" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
}

func TestACallWhoseWorkerIsGoneIsMadeOnTheCommonQueue(t *testing.T) {
	out, err := result(t, ticket.Started[string]{Ticket: &ticket.Ticket{Queue: "own", ID: "t1"}}, func(i activity.Info) (string, error) {
		return "answer", own(i)
	})
	if out != "answer" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
}

// own returns the timeout of an activity on the queue of a ticket, which has no poller.
func own(i activity.Info) error {
	if i.TaskQueue == "own" {
		return temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START, nil)
	}
	return nil
}
