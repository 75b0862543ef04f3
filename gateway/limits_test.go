package gateway_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

const (
	limitArgs    = `{"allowed":5000,"limit":"turn.tokens","more":5000,"spent":5200}`
	limitReached = "**LIMIT REACHED: tokens of this turn**"
	limitStopped = "Stopped: the limit of 5000 tokens for this turn is reached."
)

// limitPending is the approval of exceeding a limit.
func limitPending() contract.PendingApproval {
	return contract.ApprovalInput{
		UUID: someUUID, ConversationID: someID, Tool: contract.ToolGoOn, Arguments: contract.JSON{Raw: json.RawMessage(limitArgs)},
		ArgumentsSHA256: "d1", Description: limitReached, Reason: contract.ReasonLimit, CreatedAt: epoch,
	}.Pending()
}

// limitView is a conversation that has reached its limit.
func limitView(id string) contract.ConversationView {
	v := viewOf(id)
	v.Status, v.Pending = contract.StatusWaitingApproval, []contract.PendingApproval{limitPending()}
	return v
}

// limitDesk decides a limit, and replies with the result.
func limitDesk(d *desk) *fakeBackend {
	b := d.backend()
	b.DecideFn = func(uuid string, in contract.DecideSignal) error {
		err := d.decide(uuid, in)
		d.record.Tool = contract.ToolGoOn
		return err
	}
	b.AwaitFn = func(ctx context.Context, id string, requestIDs []string) (contract.AwaitResult, error) {
		said := "done"
		if d.record.Decision == contract.Rejected {
			said = limitStopped
		}
		out, err := answering(said)(ctx, id, requestIDs)
		out.Conversation.Transcript.Tail = []contract.Message{{
			ID: otherID, Role: contract.RoleUser, Content: contract.Inline("[APPROVAL]"), Approval: d.record, CreatedAt: epoch,
		}}
		return out, err
	}
	return b
}

func TestALimitIsDecidedLikeACall(t *testing.T) {
	for body, want := range map[string]struct {
		decision contract.Decision
		said     string
	}{
		`{"approved":true,"by":"ops"}`:                      {contract.Approved, "done"},
		`{"answer":"yes"}`:                                  {contract.Approved, "done"},
		`{"approved":false,"by":"ops","reason":"too dear"}`: {contract.Rejected, limitStopped},
		`{"action":"reject"}`:                               {contract.Rejected, limitStopped},
	} {
		var d desk
		a := newAPI(t, limitDesk(&d))
		reply := a.want(200, a.do("POST", approvalPath, body))
		if d.record.Decision != want.decision || reply.text("result", "response") != want.said {
			t.Errorf("%s: %+v, %s", body, d.record, reply.raw)
		}
		if !strings.Contains(reply.raw, `"tool":"go_on"`) {
			t.Errorf("%s: the conversation has no record: %s", body, reply.raw)
		}
		a.wantError(409, "was already "+string(want.decision), a.do("POST", approvalPath, `{"approved":true}`))
	}
}

func TestAnAnswerCannotSetTheLimit(t *testing.T) {
	a := newAPI(t, &fakeBackend{})
	for _, body := range []string{`1000`, `{"answer":"1000"}`, `{"content":{"more":1000}}`, `"go_on"`} {
		a.wantError(400, "invalid answer", a.do("POST", approvalPath, body))
	}
}

func TestALimitIsShownWhereverApprovalsAre(t *testing.T) {
	settled := contract.Request{Settled: true, Result: &contract.Result{WaitingApproval: true, Response: contract.Inline(limitReached)}}
	pending := limitPending()
	settled.Result.Approval = &pending
	b := &fakeBackend{
		SignalFn:       func(string, string, any) error { return nil },
		ConversationFn: func(id, _ string) (contract.ConversationView, error) { return limitView(id), nil },
		ApprovalFn: func(string) (contract.ApprovalView, error) {
			return contract.ApprovalView{Pending: limitPending()}, nil
		},
		ListFn: func(service.ListQuery) (service.Page[service.Item], error) { return items(someID), nil },
		AwaitFn: func(ctx context.Context, id string, requestIDs []string) (contract.AwaitResult, error) {
			out, err := settling(settled)(ctx, id, requestIDs)
			out.Conversation = limitView(id)
			return out, err
		},
	}
	a := newAPI(t, b)
	for what, reply := range map[string]reply{
		"approval":     a.do("GET", approvalPath, ""),
		"conversation": a.do("GET", "/conversations/"+someID, ""),
		"list":         a.do("GET", "/conversations?include=messages", ""),
		"answer":       a.do("POST", messages, `{"message":"go"}`),
	} {
		a.want(200, reply)
		for _, part := range []string{`"tool_name":"go_on"`, `"reason":"limit"`, `"tool_args":` + limitArgs, limitReached} {
			if !strings.Contains(reply.raw, part) {
				t.Errorf("%s: no %s in %s", what, part, reply.raw)
			}
		}
	}
	settled.Refused = contract.KindWaiting
	a.wantError(409, "waiting for approval", a.do("POST", messages, `{"message":"and then?"}`))
}

func TestALimitOnTemporal(t *testing.T) {
	var sent contract.DecideSignal
	done := false
	a := onTemporal(t, &fakeClient{
		ListFn: func(*workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
			r := listed()
			r.Executions = r.Executions[:1]
			r.Executions[0].Execution.WorkflowId = contract.ApprovalWorkflowID(someUUID)
			r.Executions[0].SearchAttributes.IndexedFields = payloads(map[string]any{
				contract.AttrConversationID: someID, contract.AttrToolName: contract.ToolGoOn,
			})
			return r, nil
		},
		DescribeFn: func(string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
			return described(enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, nil), nil
		},
		SignalFn: func(id, name string, arg any) error {
			done = id == "approval-"+someUUID && name == "decide"
			sent, _ = arg.(contract.DecideSignal)
			return nil
		},
		GetFn: func(string) client.WorkflowRun {
			return fakeRun{encoded: encoded{value: contract.ApprovalResult{
				UUID: someUUID, ConversationID: someID, Tool: contract.ToolGoOn, Decision: contract.Approved, RequestID: sent.RequestID,
				RequestedAt: epoch, DecidedAt: epoch,
			}}}
		},
		UpdateFn: func(o client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) { return settledBy(o, "done") },
	})
	if reply := a.want(200, a.do("GET", "/approvals", "")); !strings.Contains(reply.raw, `"tool_name":"go_on"`) {
		t.Error(reply.raw)
	}
	reply := a.want(200, a.do("POST", approvalPath, `{"approved":true,"by":"ops"}`))
	if !done || !sent.Approved || sent.By != "ops" || sent.Content.Raw != nil || reply.text("result", "response") != "done" {
		t.Errorf("sent %+v: %s", sent, reply.raw)
	}
}

func TestEveryReasonIsInTheDescription(t *testing.T) {
	for _, reason := range []contract.Reason{
		contract.ReasonDestructive, contract.ReasonUnknownOutcome, contract.ReasonNotReached, contract.ReasonRemote,
		contract.ReasonQuestion, contract.ReasonLimit,
	} {
		pending := limitPending()
		pending.Reason = reason
		a := newAPI(t, &fakeBackend{ApprovalFn: func(string) (contract.ApprovalView, error) {
			return contract.ApprovalView{Pending: pending}, nil
		}})
		if reply := a.want(200, a.do("GET", approvalPath, "")); reply.text("approval", "reason") != string(reason) {
			t.Error(reply.raw)
		}
	}
}
