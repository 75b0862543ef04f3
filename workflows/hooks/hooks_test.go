package hooks_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"agent-stop-and-go/workflows/contract"
	wire "agent-stop-and-go/workflows/contract/hooks"
	"agent-stop-and-go/workflows/hooks"
)

func TestEveryWebHookIsToldAndTriedForADay(t *testing.T) {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestWorkflowEnvironment()
	hooks.Register(env)
	var mu sync.Mutex
	attempts := map[string]int{}
	register := func(f any, name string) { env.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name}) }
	register(func(_ context.Context, in wire.SelectInput) (wire.SelectResult, error) {
		return wire.SelectResult{Hooks: []string{"good", "late", "gone", "never"}}, nil
	}, wire.ActivitySelect.Name)
	register(func(_ context.Context, in wire.SendInput) (wire.SendResult, error) {
		mu.Lock()
		defer mu.Unlock()
		attempts[in.Hook]++
		switch {
		case in.ID != "msg_1" || in.Message.Data.UUID != "u-1":
			t.Errorf("%+v", in)
		case in.Hook == "gone":
			return wire.SendResult{}, temporal.NewNonRetryableApplicationError("the web hook answered 410", string(contract.KindPushRefused), nil)
		case in.Hook == "never", in.Hook == "late" && attempts[in.Hook] < 4:
			return wire.SendResult{}, temporal.NewApplicationError("the web hook answered 503", string(contract.KindPushUnavailable))
		}
		return wire.SendResult{Status: 200}, nil
	}, wire.ActivitySend.Name)
	env.ExecuteWorkflow(wire.Workflow, wire.Input{ID: "msg_1", Message: wire.Message{Type: wire.Opened, Data: wire.Approval{UUID: "u-1"}}})
	var out wire.Result
	if err := env.GetWorkflowResult(&out); err != nil {
		t.Fatal(err)
	}
	problems := map[string]string{}
	for _, told := range out.Told {
		problems[told.Hook] = told.Problem
	}
	if len(out.Told) != 4 || problems["good"]+problems["late"] != "" || problems["gone"] != "the web hook answered 410" || problems["never"] == "" {
		t.Errorf("%+v", out)
	}
	if attempts["good"] != 1 || attempts["gone"] != 1 || attempts["late"] != 4 || attempts["never"] < 4 {
		t.Errorf("%v", attempts)
	}
}
