package gateway_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

const seats = `{"type":"object","properties":{"seats":{"type":"integer"}},"required":["seats"]}`

func question(string) (service.Subject, error) {
	return service.Subject{ConversationID: someID, Question: true, Schema: []byte(seats)}, nil
}

func TestAnswersToAQuestion(t *testing.T) {
	for body, want := range map[string]string{
		`{"content":{"seats":4},"by":"ops"}`: `{"seats":4}`,
		`{"answer":"4"}`:                     `{"seats":4}`,
		`4`:                                  `{"seats":4}`,
		`{"approved":false}`:                 "",
		`"no"`:                               "",
	} {
		var d desk
		var sent contract.DecideSignal
		b := d.backend()
		b.SubjectFn = question
		b.DecideFn = func(uuid string, in contract.DecideSignal) error {
			sent = in
			err := d.decide(uuid, in)
			d.record.Content = in.Content
			return err
		}
		a := newAPI(t, b)
		a.want(200, a.do("POST", approvalPath, body))
		if string(sent.Content.Raw) != want || sent.Approved != (want != "") || sent.Via != "rest" {
			t.Errorf("%s: sent %+v", body, sent)
		}
		b.DecideFn = d.decide
		late := a.do("POST", approvalPath, `{"content":{"seats":9}}`)
		a.wantError(409, "already", late)
		if strings.Contains(late.raw, "seats") {
			t.Errorf("the record reveals the answer: %s", late.raw)
		}
	}
}

func TestAnswersThatDoNotFitAQuestion(t *testing.T) {
	a := newAPI(t, &fakeBackend{SubjectFn: question})
	for _, body := range []string{`{"approved":true}`, `"many"`, `{"content":{"seats":"4"}}`, `{}`} {
		a.wantError(400, `accepted is {"content":{…}} with "seats" (integer, required)`, a.do("POST", approvalPath, body))
	}
}

func TestAnApprovalShowsTheSchemaOfAQuestionAndNotItsAnswer(t *testing.T) {
	schema := contract.JSON{Raw: []byte(seats)}
	view := contract.ApprovalView{
		Pending: contract.PendingApproval{
			UUID: someUUID, ConversationID: someID, ToolName: "quote", Reason: contract.ReasonQuestion, CreatedAt: epoch,
			ToolArgs: contract.JSON{Raw: []byte(`{}`)}, Schema: schema,
		},
		Result: &contract.ApprovalResult{
			UUID: someUUID, ConversationID: someID, Tool: "quote", Decision: contract.Approved, RequestedAt: epoch, DecidedAt: epoch,
			Content: contract.JSON{Raw: []byte(`{"seats":4711}`)},
		},
	}
	a := newAPI(t, &fakeBackend{ApprovalFn: func(string) (contract.ApprovalView, error) { return view, nil }})
	reply := a.want(200, a.do("GET", approvalPath, ""))
	if reply.text("approval", "schema", "properties", "seats", "type") != "integer" || strings.Contains(reply.raw, "4711") {
		t.Error(reply.raw)
	}
}

func TestAMessageThatDoesNotAnswerTheQuestion(t *testing.T) {
	for kind, want := range map[contract.Kind]struct {
		status int
		text   string
	}{
		contract.KindInvalid: {400, "invalid answer: accepted is a number"},
		contract.KindDecided: {409, "The question has an answer already."},
	} {
		var m mailbox
		a := newAPI(t, &fakeBackend{SignalFn: m.signal, AwaitFn: settling(contract.Request{
			Settled: true, Refused: kind, Result: &contract.Result{Response: contract.Inline("accepted is a number")},
		})})
		a.wantError(want.status, want.text, a.do("POST", messages, `{"message":"x"}`))
	}
}

func TestTheMemoOfAnApprovalMayReferToTheSchema(t *testing.T) {
	var a *api
	var sent contract.DecideSignal
	memo := []byte("{")
	a = onTemporal(t, &fakeClient{
		DescribeFn: func(string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
			return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{
				Status: enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING,
				Memo:   &commonpb.Memo{Fields: map[string]*commonpb.Payload{contract.MemoSchema: {Data: memo}}},
			}}, nil
		},
		SignalFn: func(_, _ string, arg any) error { sent = arg.(contract.DecideSignal); return context.DeadlineExceeded },
	})
	a.wantError(500, "internal", a.do("POST", approvalPath, `4`))
	b, err := a.blobs.Put(t.Context(), []byte(seats))
	if err != nil {
		t.Fatal(err)
	}
	if memo, err = json.Marshal(contract.JSON{Blob: &b}); err != nil {
		t.Fatal(err)
	}
	a.wantError(400, "accepted is", a.do("POST", approvalPath, `"yes"`))
	a.do("POST", approvalPath, `4`)
	if string(sent.Content.Raw) != `{"seats":4}` {
		t.Errorf("sent %+v", sent)
	}
}

func TestTheMemoOfAnApprovalMarksQuestions(t *testing.T) {
	var sent contract.DecideSignal
	a := onTemporal(t, &fakeClient{
		DescribeFn: func(string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
			return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{
				Status: enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING,
				Memo:   &commonpb.Memo{Fields: map[string]*commonpb.Payload{contract.MemoSchema: {Data: []byte(seats)}}},
			}}, nil
		},
		SignalFn: func(_, _ string, arg any) error { sent = arg.(contract.DecideSignal); return context.DeadlineExceeded },
	})
	a.wantError(400, "accepted is", a.do("POST", approvalPath, `"yes"`))
	a.do("POST", approvalPath, `4`)
	if string(sent.Content.Raw) != `{"seats":4}` {
		t.Errorf("sent %+v", sent)
	}
}

// Two answers that both approve do not agree if only one says that the call ran.
func TestAnswersToAnUnknownOutcomeOverREST(t *testing.T) {
	doubt := func(string) (service.Subject, error) {
		return service.Subject{ConversationID: someID, Question: true, Schema: []byte(contract.UnknownOutcomeSchema)}, nil
	}
	for body, want := range map[string]string{
		`{"approved":true}`: `{}`, `{"answer":"ran"}`: `{"outcome":"ran"}`, `"no"`: "",
		`{"content":{"outcome":"ran","result":"17 rows"},"by":"ops"}`: `{"outcome":"ran","result":"17 rows"}`,
	} {
		var d desk
		var sent contract.DecideSignal
		b := d.backend()
		b.SubjectFn = doubt
		b.DecideFn = func(uuid string, in contract.DecideSignal) error {
			sent = in
			err := d.decide(uuid, in)
			d.record.Content, d.record.Outcome = in.Content, contract.ApprovalResult{Content: in.Content}.Resolution().Outcome
			return err
		}
		a := newAPI(t, b)
		a.want(200, a.do("POST", approvalPath, body, "Idempotency-Key: k"))
		if string(sent.Content.Raw) != want || sent.Approved != (want != "") {
			t.Errorf("%s: sent %+v", body, sent)
		}
	}
	for _, c := range []struct {
		record contract.ApprovalResult
		said   string
		agrees bool
	}{
		{contract.ApprovalResult{Decision: contract.Approved, Outcome: contract.OutcomeRan}, `{}`, false},
		{contract.ApprovalResult{Decision: contract.Approved, Outcome: contract.OutcomeRan}, `{"outcome":"ran","result":"x"}`, true},
		{contract.ApprovalResult{Decision: contract.Approved, Outcome: contract.OutcomeNotRun}, `{}`, true},
		{contract.ApprovalResult{Decision: contract.Approved}, `{"outcome":"ran"}`, false},
	} {
		if got := c.record.Agrees(contract.DecideSignal{Approved: true, Content: contract.JSON{Raw: []byte(c.said)}}); got != c.agrees {
			t.Errorf("%+v agrees with %s: %t", c.record, c.said, got)
		}
	}
}
