package workflows_test

import (
	"slices"
	"testing"
	"time"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/hooks"
)

// What tells the web hooks has been started before an approval ends, so that it outlives it.
func TestWebHooksAreToldOfAnApproval(t *testing.T) {
	for _, tt := range []struct {
		name      string
		webhooks  bool
		timeout   time.Duration
		decision  contract.Decision
		want      []hooks.Event
		decidedBy string
	}{
		{"decided", true, 0, contract.Approved, []hooks.Event{hooks.Opened, hooks.Decided}, "ops"},
		{"expired", true, time.Hour, contract.Expired, []hooks.Event{hooks.Opened, hooks.Expired}, ""},
		{"without web hooks", false, 0, contract.Approved, nil, "ops"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := question()
			in.CreatedAt, in.Webhooks, in.Timeout = time.Now().UTC(), tt.webhooks, tt.timeout
			s := newSession(t, &world{}, contract.ApprovalWorkflowID(approvalID))
			var told []hooks.Event
			s.env.RegisterWorkflowWithOptions(func(_ workflow.Context, got hooks.Input) (hooks.Result, error) {
				told = append(told, got.Message.Type)
				d := got.Message.Data.Decision
				if got.ID != hooks.EventID(approvalID, got.Message.Type, 1) || got.Message.Data.UUID != approvalID || (d == nil) != (got.Message.Type == hooks.Opened) {
					t.Errorf("%+v", got)
				}
				if d != nil && (d.Decision != tt.decision || d.By != tt.decidedBy) {
					t.Errorf("%+v", d)
				}
				return hooks.Result{}, nil
			}, workflow.RegisterOptions{Name: hooks.Workflow})
			s.run(contract.WorkflowApproval, in, func(s *session) {
				if tt.timeout == 0 {
					s.decideOn(approvalID, typed(`{"approved":true,"by":"ops"}`))
				}
				s.sleep(2 * tt.timeout)
				s.rest()
			}, s.env.CancelWorkflow)
			if err := s.env.GetWorkflowError(); err != nil {
				t.Error(err)
			}
			if !slices.Equal(told, tt.want) {
				t.Errorf("told %v, expected %v", told, tt.want)
			}
		})
	}
}
