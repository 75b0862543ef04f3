package gateway_test

import (
	"errors"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/switches"
)

func TestSwitchesAreReadFromTheMemoOfTheControl(t *testing.T) {
	set := switches.State{Switches: []switches.Switch{{What: "agent:shop", By: "ops", Since: epoch}}}
	memo := map[string]any{switches.MemoSwitches: set}
	for name, tc := range map[string]struct {
		describe func() (*workflowservice.DescribeWorkflowExecutionResponse, error)
		status   int
		length   int
	}{
		"no control": {func() (*workflowservice.DescribeWorkflowExecutionResponse, error) { return nil, errMissing }, 200, 0},
		"a control": {func() (*workflowservice.DescribeWorkflowExecutionResponse, error) {
			return described(enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, memo), nil
		}, 200, 1},
		"one without a memo": {func() (*workflowservice.DescribeWorkflowExecutionResponse, error) {
			return described(enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, nil), nil
		}, 200, 0},
		"one that has ended": {func() (*workflowservice.DescribeWorkflowExecutionResponse, error) {
			return described(enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED, memo), nil
		}, 200, 0},
		"no Temporal": {func() (*workflowservice.DescribeWorkflowExecutionResponse, error) {
			return nil, serviceerror.NewUnavailable("away")
		}, 503, 0},
	} {
		a := onTemporal(t, &fakeClient{DescribeFn: func(id string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
			if id != switches.WorkflowID {
				t.Errorf("%s: asked for %s", name, id)
			}
			return tc.describe()
		}})
		r := a.want(tc.status, a.do("GET", "/control/switches", ""))
		if list, _ := r.at("switches").([]any); len(list) != tc.length {
			t.Errorf("%s: %s", name, r.raw)
		}
	}
}

// A change is an update, or a signal where no worker answers it.
func TestAChangeOfSwitchesStartsTheControl(t *testing.T) {
	state := switches.State{Switches: []switches.Switch{{What: switches.All, Since: epoch}}}
	for name, tc := range map[string]struct {
		err    error // of the update
		status int
		signal bool
	}{
		"a worker answers":       {nil, 200, false},
		"no worker answers":      {serviceerror.NewDeadlineExceeded("no worker"), 202, true},
		"an older server":        {serviceerror.NewUnimplemented("ExecuteMultiOperation"), 202, true},
		"too many switches":      {temporal.NewNonRetryableApplicationError("too many switches", string(contract.KindBusy), nil), 429, false},
		"a target of no call":    {temporal.NewNonRetryableApplicationError("what: no", string(contract.KindInvalid), nil), 400, false},
		"a worker that goes mad": {temporal.NewNonRetryableApplicationError("what?", "SomethingElse", errors.New("x")), 202, true},
	} {
		for path, update := range map[string]string{"/control/pause": switches.UpdatePause, "/control/resume": switches.UpdateResume} {
			signals := 0
			check := func(o client.StartWorkflowOptions) {
				if o.ID != switches.WorkflowID || o.TaskQueue != switches.TaskQueue || o.WorkflowIDConflictPolicy != enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING {
					t.Errorf("%s: started with %+v", name, o)
				}
			}
			a := onTemporal(t, &fakeClient{
				UpdateWithStartFn: func(start fakeStart, o client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
					check(start.options)
					c := o.Args[0].(switches.Change)
					if o.UpdateName != update || c.What != switches.All || c.By != "ops" {
						t.Errorf("%s: update %+v", name, o)
					}
					return fakeHandle{encoded: encoded{value: state, err: tc.err}}, nil
				},
				SignalWithStartFn: func(id, signal string, arg any, o client.StartWorkflowOptions, _ any, _ []any) error {
					check(o)
					if c := arg.(switches.Change); id != switches.WorkflowID || signal != update || c.What != switches.All || c.By != "ops" {
						t.Errorf("%s: signal %s %+v", name, signal, c)
					}
					signals++
					return nil
				},
			})
			r := a.do("POST", path, `{"what":"all","by":"ops"}`)
			if r.status != tc.status || tc.signal != (signals == 1) {
				t.Errorf("%s, %s: %d %s, %d signals", name, path, r.status, r.raw, signals)
			}
		}
	}
}
