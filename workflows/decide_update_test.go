package workflows_test

import (
	"errors"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/workflows/contract"
)

// decideUpdate is the outcome of an update that decides.
type decideUpdate struct {
	accepted bool
	refused  error // before it was accepted
	record   contract.ApprovalResult
	err      error
}

func (u *decideUpdate) Accept()          { u.accepted = true }
func (u *decideUpdate) Reject(err error) { u.refused = err }
func (u *decideUpdate) Complete(result any, err error) {
	u.err = err
	if err == nil {
		u.record = result.(contract.ApprovalResult)
	}
}

// decideBy sends an update that decides.
func (s *session) decideBy(in any) *decideUpdate {
	u := &decideUpdate{}
	s.env.UpdateWorkflow(contract.UpdateDecide, "", u, in)
	return u
}

func kindOf(err error) contract.Kind {
	var failure *temporal.ApplicationError
	if !errors.As(err, &failure) {
		return ""
	}
	return contract.Kind(failure.Type())
}

func TestAnUpdateDecidesAndReturnsTheRecord(t *testing.T) {
	var u *decideUpdate
	got := runApprovalAlone(t, question(), func(s *session) {
		u = s.decideBy(contract.DecideSignal{Approved: true, By: "ops", Via: "rest", RequestID: "d1", Credential: "v1.k.sealed"})
		s.rest()
	})
	same(t, "accepted", u.accepted, true)
	same(t, "error", u.err, nil)
	same(t, "decision", got.Decision, contract.Approved)
	same(t, "credential for the conversation", got.Credential, "v1.k.sealed")
	same(t, "returned", u.record, got.Public())
}

func TestAnUpdateThatDecidesNothingIsRefused(t *testing.T) {
	for _, raw := range []string{`{}`, `null`, `{"approved":"perhaps"}`, `{"answer":"maybe"}`} {
		runApprovalAlone(t, question(), func(s *session) {
			u := s.decideBy(typed(raw))
			s.rest()
			same(t, raw, kindOf(u.refused), contract.KindInvalid)
			same(t, "ignored", s.approval(approvalID).Ignored, 0)
			s.decideOn(approvalID, contract.DecideSignal{Approved: true})
			s.rest()
		})
	}
}

func TestAnUpdateAnswersAQuestion(t *testing.T) {
	in := question()
	in.Reason, in.Schema = contract.ReasonQuestion, contract.JSON{
		Raw: []byte(`{"type":"object","properties":{"seats":{"type":"integer"}},"required":["seats"]}`),
	}
	got := runApprovalAlone(t, in, func(s *session) {
		u := s.decideBy(contract.DecideSignal{Approved: true})
		s.rest()
		same(t, "without content", kindOf(u.refused), contract.KindInvalid)
		u = s.decideBy(contract.DecideSignal{Approved: true, Content: contract.JSON{Raw: []byte(`{"seats":4}`)}})
		s.rest()
		same(t, "error", u.err, nil)
		same(t, "returned content", u.record.Content, contract.JSON{})
	})
	same(t, "content", string(got.Content.Raw), `{"seats":4}`)
}

func TestAnAnswerWhoseSchemaIsStoredIsLeftToTheSignal(t *testing.T) {
	in, stored := question(), contract.NewBlob([]byte(`{}`))
	in.Reason, in.Schema = contract.ReasonQuestion, contract.JSON{Blob: &stored}
	runApprovalAlone(t, in, func(s *session) {
		u := s.decideBy(contract.DecideSignal{Approved: true})
		s.rest()
		same(t, "refused", kindOf(u.refused), contract.KindBlob)
		s.env.CancelWorkflow()
		s.rest()
	})
}

func TestTheFirstOfTwoUpdatesWins(t *testing.T) {
	var first, second *decideUpdate
	got := runApprovalAlone(t, question(), func(s *session) {
		first = s.decideBy(contract.DecideSignal{Approved: false, RequestID: "first"})
		second = s.decideBy(contract.DecideSignal{Approved: true, RequestID: "second"})
		s.rest()
	})
	same(t, "request", got.RequestID, "first")
	same(t, "first", first.err, nil)
	same(t, "second", second.record, contract.ApprovalResult{})
}

func TestASignalThatWasRecordedWinsOverAnUpdate(t *testing.T) {
	var u *decideUpdate
	got := runApprovalAlone(t, question(), func(s *session) {
		s.env.SignalWorkflowSkippingWorkflowTask(contract.SignalDecide, typed(`{"approved":false}`))
		u = s.decideBy(contract.DecideSignal{Approved: true})
		s.rest()
	})
	same(t, "decision", got.Decision, contract.Rejected)
	same(t, "update", kindOf(errors.Join(u.refused, u.err)), contract.KindDecided)
}

// After a restart a decision may come before the timer that has fired meanwhile.
func TestAnUpdateAfterTheTimeDecidesNothing(t *testing.T) {
	in := question()
	in.CreatedAt, in.Timeout = created.Add(-time.Hour), time.Minute
	s := newSession(t, &world{}, contract.ApprovalWorkflowID(in.UUID))
	var u *decideUpdate
	s.env.RegisterDelayedCallback(func() { u = s.decideBy(contract.DecideSignal{Approved: true}) }, 0)
	s.env.ExecuteWorkflow(contract.WorkflowApproval, in)
	var got contract.ApprovalResult
	same(t, "error", s.env.GetWorkflowResult(&got), nil)
	same(t, "kind of the refusal", kindOf(u.refused), contract.KindDecided)
	same(t, "decision", got.Decision, contract.Expired)
}
