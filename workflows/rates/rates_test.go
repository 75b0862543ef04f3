package rates_test

import (
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	contract "agent-stop-and-go/workflows/contract/rates"
	"agent-stop-and-go/workflows/rates"
)

// counted runs a Rate while body runs.
func counted(t *testing.T, in contract.Input, body func(env *testsuite.TestWorkflowEnvironment)) *testsuite.TestWorkflowEnvironment {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestWorkflowEnvironment()
	env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: contract.WorkflowID("helper", "db", "")})
	rates.Register(env)
	env.RegisterDelayedCallback(func() { body(env) }, 0)
	env.ExecuteWorkflow(contract.Workflow, in)
	if !env.IsWorkflowCompleted() {
		t.Fatal("it has not ended")
	}
	return env
}

// answer is the answer to an update.
type answer struct {
	out []contract.Outcome
	err error
}

func (a *answer) Accept()          {}
func (a *answer) Reject(err error) { a.err = err }
func (a *answer) Complete(out any, err error) {
	a.err = err
	if err == nil {
		a.out = out.([]contract.Outcome)
	}
}

func take(env *testsuite.TestWorkflowEnvironment, takes ...contract.Take) *answer {
	a := &answer{}
	env.UpdateWorkflow(contract.UpdateTake, fmt.Sprint(time.Now().UnixNano(), takes), a, takes)
	return a
}

func one(key string) contract.Take { return contract.Take{Key: key, Calls: 2, In: time.Hour} }

func TestItCountsUntilTheLastCallNoLongerCounts(t *testing.T) {
	var began, ended time.Time
	var first, second, invalid *answer
	var view contract.View
	env := counted(t, contract.Input{Agent: "helper", Limit: "db", Who: "alice"}, func(env *testsuite.TestWorkflowEnvironment) {
		began = env.Now()
		first = take(env, one("a"), one("a"), one("b"), one("c"))
		env.RegisterDelayedCallback(func() {
			second, invalid = take(env, one("c")), take(env, contract.Take{Key: "x"})
			got, err := env.QueryWorkflow(contract.QueryRate, env.Now())
			if err == nil {
				err = got.Get(&view)
			}
			if err != nil {
				t.Error(err)
			}
			env.SignalWorkflow(contract.SignalReturn, contract.KeyOf("nobody"))
		}, 59*time.Minute)
	})
	ended = env.Now()
	if o := first.out; len(o) != 4 || !o[0].New || o[1].New || !o[1].Room || !o[2].Room || o[3].Room || !o[3].At.Equal(began.Add(time.Hour)) {
		t.Errorf("%+v", first)
	}
	if len(second.out) != 1 || second.out[0].Room || invalid.err == nil {
		t.Errorf("%+v, %+v", second, invalid)
	}
	if view.Used != 2 || view.Waiting != 0 || view.Who != "alice" || !view.From.Equal(began) {
		t.Errorf("%+v", view)
	}
	if err := env.GetWorkflowError(); err != nil || ended.Sub(began) < time.Hour || ended.Sub(began) > 3*time.Hour {
		t.Errorf("ended after %s: %v", ended.Sub(began), err)
	}
}

func TestTheNextRunGoesOnCounting(t *testing.T) {
	env := counted(t, contract.Input{Agent: "helper", Limit: "db"}, func(env *testsuite.TestWorkflowEnvironment) {
		env.CancelWorkflow() // changes nothing
		take(env, one("a"), one("b"))
		env.RegisterDelayedCallback(func() {
			env.SignalWorkflow(contract.SignalReturn, "b")
			env.RegisterDelayedCallback(func() {
				env.SetCurrentHistoryLength(5000)
				env.SignalWorkflow(contract.SignalReturn, "nobody")
			}, time.Second)
		}, 30*time.Second)
	})
	var next *workflow.ContinueAsNewError
	if !errors.As(env.GetWorkflowError(), &next) {
		t.Fatal(env.GetWorkflowError())
	}
	var in contract.Input
	if err := converter.GetDefaultDataConverter().FromPayloads(next.Input, &in); err != nil {
		t.Fatal(err)
	}
	if len(in.Counted) != 1 || in.Counted[0].Key != "a" || in.Limit != "db" || in.Window != time.Hour {
		t.Errorf("%+v", in)
	}
}
