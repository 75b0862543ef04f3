package reset_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/testsuite"

	"agent-stop-and-go/activities/reset"
	"agent-stop-and-go/workflows/contract"
)

// fakeChildren is an reset.Children.
type fakeChildren struct {
	pending, running, cancelled []string
	next                        string // is started after each call of Running
	err                         error
}

func (f *fakeChildren) look() {
	if f.next != "" {
		f.pending, f.running = append(f.pending, f.next), append(f.running, f.next)
	}
}

func (f *fakeChildren) Pending(context.Context, string, string) ([]string, error) {
	defer f.look()
	return slices.Clone(f.pending), f.err
}

func (f *fakeChildren) Running(context.Context, string) (out []*commonpb.WorkflowExecution, err error) {
	defer f.look()
	for _, id := range f.running {
		out = append(out, &commonpb.WorkflowExecution{WorkflowId: id})
	}
	return out, nil
}

func (f *fakeChildren) Cancel(_ context.Context, child *commonpb.WorkflowExecution) error {
	f.cancelled = append(f.cancelled, child.GetWorkflowId())
	return nil
}

// withdraw runs the activity as a worker would.
func withdraw(t *testing.T, r *reset.Activities, in contract.WithdrawInput) (out contract.WithdrawResult, err error) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivity(r.Withdraw)
	value, err := env.ExecuteActivity(r.Withdraw, in)
	if err == nil {
		err = value.Get(&out)
	}
	return out, err
}

func TestOnlyWhatThePresentRunDoesNotWaitForIsEnded(t *testing.T) {
	f := &fakeChildren{pending: []string{"approval-2", "node-1"}, running: []string{"approval-1", "approval-2", "node-1", "node-2"}}
	r := &reset.Activities{Children: f}
	out, err := withdraw(t, r, contract.WithdrawInput{})
	if want := []string{"approval-1", "node-2"}; err != nil || !slices.Equal(f.cancelled, want) || !slices.Equal(out.Workflows, want) {
		t.Errorf("cancelled %v, told %v, %v", f.cancelled, out.Workflows, err)
	}
	f.err, f.cancelled = errors.New("away"), nil
	if _, err := withdraw(t, r, contract.WithdrawInput{}); err == nil || f.cancelled != nil {
		t.Errorf("without knowing what is waited for: %v, cancelled %v", err, f.cancelled)
	}
}

func TestOneChildAloneIsCancelled(t *testing.T) {
	f := &fakeChildren{pending: []string{"approval-1"}, running: []string{"approval-1", "approval-2"}}
	r := &reset.Activities{Children: f}
	if _, err := withdraw(t, r, contract.WithdrawInput{Child: "approval-1"}); err != nil || !slices.Equal(f.cancelled, []string{"approval-1"}) {
		t.Errorf("cancelled %v, %v", f.cancelled, err)
	}
}

func TestWhatIsStartedMeanwhileIsNotEnded(t *testing.T) {
	f := &fakeChildren{running: []string{"approval-1"}, next: "approval-2"}
	r := &reset.Activities{Children: f}
	if _, err := withdraw(t, r, contract.WithdrawInput{}); err != nil || !slices.Equal(f.cancelled, []string{"approval-1"}) {
		t.Errorf("cancelled %v, %v", f.cancelled, err)
	}
}
