package workflows_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
)

const approvalID = "22222222-2222-5222-8222-222222222222"

var created = time.Now().UTC().Truncate(time.Second)

func question() contract.ApprovalInput {
	c := add("x")
	return contract.ApprovalInput{
		UUID: approvalID, ConversationID: conversationID, AgentName: "tester", Tool: c.Name, Server: c.Server,
		Arguments: c.Arguments, ArgumentsSHA256: c.SHA256, Description: "**ADD Resource**", Reason: contract.ReasonDestructive,
		CreatedAt: created,
	}
}

func TestADecisionEndsTheApprovalAndIsItsAuditRecord(t *testing.T) {
	tests := []struct {
		name, typed string
		want        contract.ApprovalResult
	}{
		{"yes", `{"approved":true}`, contract.ApprovalResult{Decision: contract.Approved, Via: "signal"}},
		{"no", `{"approved":false}`, contract.ApprovalResult{Decision: contract.Rejected, Via: "signal"}},
		{
			"with everything", `{"approved":false,"by":"ops","reason":"too risky","via":"rest","request_id":"d1","credential":"v1.k.sealed"}`,
			contract.ApprovalResult{
				Decision: contract.Rejected, By: "ops", Reason: "too risky", Via: "rest", RequestID: "d1", Credential: "v1.k.sealed",
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := runApprovalAlone(t, question(), func(s *session) {
				s.decideOn(approvalID, typed(tt.typed))
				s.rest()
			})
			if got.DecidedAt.Before(created) {
				t.Errorf("decided at %v, asked at %v", got.DecidedAt, created)
			}
			want := tt.want
			want.UUID, want.ConversationID, want.Tool = approvalID, conversationID, "resources_add"
			want.ArgumentsSHA256, want.RequestedAt, want.DecidedAt = add("x").SHA256, created, got.DecidedAt
			same(t, "record", got, want)
		})
	}
}

func TestWhatIsNotADecisionLeavesTheApprovalPendingAndSaysSo(t *testing.T) {
	for _, raw := range []string{`{}`, `garbage`, ``, `null`, `[]`, `42`, `{"approved":"perhaps"}`, `{"approved":7}`, `{"answer":"maybe"}`} {
		t.Run(raw, func(t *testing.T) {
			got := runApprovalAlone(t, question(), func(s *session) {
				s.decideOn(approvalID, typed(raw))
				s.rest()
				v := s.approval(approvalID)
				if v.Result != nil || v.Problem == "" {
					t.Fatalf("after a malformed signal: result %+v, problem %q", v.Result, v.Problem)
				}
				d := s.details(contract.ApprovalWorkflowID(approvalID))
				for _, part := range []string{"Waiting for a decision", "was not taken as a decision", v.Problem, "temporal workflow signal"} {
					if !strings.Contains(d, part) {
						t.Errorf("details do not say %q:\n%s", part, d)
					}
				}
				s.decideOn(approvalID, typed(`{"approved":true}`))
				s.rest()
				same(t, "problem afterwards", s.approval(approvalID).Problem, "")
			})
			same(t, "decision", got.Decision, contract.Approved)
		})
	}
}

func TestAnApprovalThatHasIgnoredManySignalsContinuesAsNew(t *testing.T) {
	in := question()
	in.CreatedAt, in.Timeout = created.Add(-time.Hour), 24*time.Hour
	for range 3 {
		s := newSession(t, &world{}, contract.ApprovalWorkflowID(approvalID))
		s.run(contract.WorkflowApproval, in, func(s *session) {
			s.env.SetCurrentHistoryLength(1_000)
			s.rest()
			same(t, "over", s.over, false) // no signal was ignored
			s.decideOn(approvalID, typed(`{"approved":"perhaps"}`))
			s.rest()
		}, s.env.CancelWorkflow)
		var continued *workflow.ContinueAsNewError
		if !errors.As(s.env.GetWorkflowError(), &continued) {
			t.Fatalf("the run went on: %v", s.env.GetWorkflowError())
		}
		same(t, "workflow", continued.WorkflowType.Name, contract.WorkflowApproval)
		if err := converter.GetDefaultDataConverter().FromPayloads(continued.Input, &in); err != nil {
			t.Fatal(err)
		}
	}
	got := runApprovalAlone(t, in, func(s *session) {
		v := s.approval(approvalID)
		same(t, "ignored", v.Ignored, 3)
		same(t, "problem", v.Problem != "", true)
		same(t, "asked", v.Pending, in.Pending())
		s.decideOn(approvalID, typed(`{"approved":true}`))
		s.rest()
	})
	same(t, "decision", got.Decision, contract.Approved)
	same(t, "asked at", got.RequestedAt, in.CreatedAt)
}

func TestADecisionBehindManyIgnoredSignalsCounts(t *testing.T) {
	got := runApprovalAlone(t, question(), func(s *session) {
		s.env.SetCurrentHistoryLength(1_000)
		s.env.SignalWorkflowSkippingWorkflowTask(contract.SignalDecide, typed(`{}`))
		s.decideOn(approvalID, typed(`{"approved":true}`))
		s.rest()
	})
	same(t, "decision", got.Decision, contract.Approved)
}

func TestASignalWithoutAnyArgumentIsNotADecision(t *testing.T) {
	runApprovalAlone(t, question(), func(s *session) {
		s.decideOn(approvalID, nil)
		s.rest()
		if v := s.approval(approvalID); v.Result != nil || v.Problem == "" {
			t.Errorf("result %+v, problem %q", v.Result, v.Problem)
		}
	})
}

func TestTheFirstOfTwoDecisionsWins(t *testing.T) {
	got := runApprovalAlone(t, question(), func(s *session) {
		s.env.SignalWorkflowSkippingWorkflowTask(contract.SignalDecide, contract.DecideSignal{Approved: false, RequestID: "first"})
		s.env.SignalWorkflow(contract.SignalDecide, contract.DecideSignal{Approved: true, RequestID: "second"})
		s.rest()
	})
	same(t, "decision", got.Decision, contract.Rejected)
	same(t, "request", got.RequestID, "first")
}

func TestAMalformedSignalDoesNotHideTheDecisionBehindIt(t *testing.T) {
	got := runApprovalAlone(t, question(), func(s *session) {
		s.env.SignalWorkflowSkippingWorkflowTask(contract.SignalDecide, typed(`{}`))
		s.env.SignalWorkflow(contract.SignalDecide, contract.DecideSignal{Approved: true})
		s.rest()
	})
	same(t, "decision", got.Decision, contract.Approved)
}

func TestAnApprovalExpires(t *testing.T) {
	in := question()
	in.Timeout = time.Hour
	got := runApprovalAlone(t, in, func(s *session) {
		s.sleep(50 * time.Minute)
		s.decideOn(approvalID, typed(`{}`)) // a malformed answer does not restart the timeout
		s.sleep(11 * time.Minute)
		if !s.over {
			t.Error("the approval still waits after an hour")
		}
	})
	same(t, "decision", got.Decision, contract.Expired)
	same(t, "reason", got.Reason, "nobody decided within 1h0m0s")
	if d := got.DecidedAt.Sub(created); d < time.Hour || d > time.Hour+time.Minute {
		t.Errorf("expired after %v", d)
	}
}

func TestAnApprovalWaitsForMonths(t *testing.T) {
	got := runApprovalAlone(t, question(), func(s *session) {
		s.sleep(200 * 24 * time.Hour)
		s.decideOn(approvalID, typed(`{"approved":true}`))
		s.rest()
	})
	same(t, "decision", got.Decision, contract.Approved)
}

func TestACancelledApprovalEndsWithARecord(t *testing.T) {
	for name, timeout := range map[string]time.Duration{"without expiry": 0, "with expiry": time.Hour} {
		t.Run(name, func(t *testing.T) {
			in := question()
			in.Timeout = timeout
			got := runApprovalAlone(t, in, func(s *session) {
				s.env.CancelWorkflow()
				s.rest()
			})
			same(t, "decision", got.Decision, contract.Cancelled)
			same(t, "reason", got.Reason, "the request was withdrawn")
			same(t, "via", got.Via, "")
		})
	}
}

func TestADecisionThatArrivedBeforeTheCancelCounts(t *testing.T) {
	got := runApprovalAlone(t, question(), func(s *session) {
		s.env.SignalWorkflowSkippingWorkflowTask(contract.SignalDecide, contract.DecideSignal{Approved: false})
		s.env.CancelWorkflow()
		s.rest()
	})
	same(t, "decision", got.Decision, contract.Rejected)
}

func TestTheQueryOfAnApprovalHoldsNoCredential(t *testing.T) {
	got := runApprovalAlone(t, question(), func(s *session) {
		s.decideOn(approvalID, contract.DecideSignal{Approved: true, By: "ops", Credential: "v1.k.sealed"})
		s.rest()
		v := s.approval(approvalID)
		same(t, "who decided", v.Result.By, "ops")
		same(t, "credential", v.Result.Credential, "")
	})
	same(t, "credential for the conversation", got.Credential, "v1.k.sealed")
}

func TestDetailsOfAnApprovalTellHowItEnded(t *testing.T) {
	runApprovalAlone(t, question(), func(s *session) {
		s.decideOn(approvalID, contract.DecideSignal{Approved: false, By: "ops", Reason: "too risky"})
		s.rest()
		d := s.details(contract.ApprovalWorkflowID(approvalID))
		if !strings.Contains(d, "Rejected at") || !strings.Contains(d, "by ops through signal: too risky") {
			t.Errorf("details:\n%s", d)
		}
	})
}
