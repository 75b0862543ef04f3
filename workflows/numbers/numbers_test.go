package numbers_test

import (
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract/number"
	"agent-stop-and-go/workflows/numbers"
)

const (
	first  = "7f9c24e8-3b12-4fef-91e0-5a1b2c3d4e5f"
	second = "0b8c9d0e-1f2a-4b3c-8d4e-5f6a7b8c9d0e"
)

type outcome struct {
	err   error
	given number.Given
}

func (o *outcome) Accept()          {}
func (o *outcome) Reject(err error) { o.err = err }
func (o *outcome) Complete(v any, err error) {
	o.given, _ = v.(number.Given)
	o.err = err
}

func TestNumbersAreKeptAndGoOnInTheNextRun(t *testing.T) {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestWorkflowEnvironment()
	numbers.Register(env)
	n := 0
	give := func(ids ...string) *outcome {
		n++
		o := &outcome{}
		env.UpdateWorkflow(number.UpdateGive, fmt.Sprint(n), o, number.Give{IDs: ids})
		return o
	}
	var all []*outcome
	env.RegisterDelayedCallback(func() {
		all = append(all, give(first), give(second, first), give("no UUID"), give(), give(make([]string, number.MaxGive+1)...))
	}, time.Second)
	env.RegisterDelayedCallback(func() {
		v, err := env.QueryWorkflow(number.QueryAll)
		if err != nil {
			t.Error(err)
			return
		}
		var s number.State
		if err := v.Get(&s); err != nil || s.Of(second) != 102 || s.ID(101) != first {
			t.Errorf("%v %+v", err, s)
		}
		env.CancelWorkflow() // changes nothing
	}, time.Minute)
	env.RegisterDelayedCallback(func() { all = append(all, give(first)) }, time.Hour)
	env.RegisterDelayedCallback(func() { env.SetCurrentHistoryLength(10_000); give(first) }, 2*time.Hour)
	env.ExecuteWorkflow(number.Workflow, number.Input{})

	for i, want := range []int{101, 102, 0, 0, 0, 101} {
		switch o := all[i]; {
		case want == 0 && o.err == nil:
			t.Errorf("%d: it is accepted", i)
		case want != 0 && (o.err != nil || o.given.Numbers[0].N != want):
			t.Errorf("%d: %+v, want %d", i, o, want)
		}
	}
	var next *workflow.ContinueAsNewError
	if err := env.GetWorkflowError(); !errors.As(err, &next) {
		t.Fatalf("it has ended: %v", err)
	}
	var in number.Input
	if err := converter.GetDefaultDataConverter().FromPayloads(next.Input, &in); err != nil || in.Of(second) != 102 || in.Last != 102 {
		t.Errorf("%v %+v", err, in)
	}
}
