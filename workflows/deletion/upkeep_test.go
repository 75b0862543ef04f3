package deletion_test

import (
	"context"
	"testing"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"agent-stop-and-go/workflows/contract"
	names "agent-stop-and-go/workflows/contract/deletion"
	"agent-stop-and-go/workflows/deletion"
)

// An upkeep goes on when the server has been away for a minute.
func TestAnUpkeepOutlivesARestartOfTheServer(t *testing.T) {
	env := (&testsuite.WorkflowTestSuite{}).NewTestWorkflowEnvironment()
	fails := 6
	env.RegisterActivityWithOptions(func(context.Context, names.UpkeepInput) (names.Expired, error) { return names.Expired{}, nil },
		activity.RegisterOptions{Name: names.ActivityExpire.Name})
	env.RegisterActivityWithOptions(func(context.Context, names.UpkeepInput) (names.Marked, error) {
		if fails--; fails >= 0 {
			return names.Marked{}, temporal.NewApplicationError("connection reset by peer", string(contract.KindInternal))
		}
		return names.Marked{}, nil
	}, activity.RegisterOptions{Name: names.ActivityMark.Name})
	env.ExecuteWorkflow(deletion.Upkeep, names.UpkeepInput{Mark: true})
	var out names.UpkeepResult
	if err := env.GetWorkflowResult(&out); err != nil || out.Marked == nil {
		t.Errorf("%+v, %v", out, err)
	}
}
