package worker_test

import (
	"context"
	"errors"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"agent-stop-and-go/worker"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/judgement"
	"agent-stop-and-go/workflows/contract/review"
)

// waiting is a server with approvals, by their workflow IDs in order.
type waiting struct {
	ids   []string
	memos []map[string]any
	fails map[string]error
	sent  []string
}

func (w *waiting) ListWorkflow(_ context.Context, r *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	n := len(r.NextPageToken) // each page has one
	out := &workflowservice.ListWorkflowExecutionsResponse{}
	if n < len(w.ids) {
		memo := &commonpb.Memo{Fields: map[string]*commonpb.Payload{}}
		for key, value := range w.memos[n] {
			p, err := converter.GetDefaultDataConverter().ToPayload(value)
			if err != nil {
				return nil, err
			}
			memo.Fields[key] = p
		}
		out.Executions = []*workflowpb.WorkflowExecutionInfo{{Execution: &commonpb.WorkflowExecution{WorkflowId: w.ids[n]}, Memo: memo}}
		out.NextPageToken = append(r.NextPageToken, 'x')
	}
	return out, nil
}

func (w *waiting) UpdateWorkflow(_ context.Context, o client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	if err := w.fails[o.WorkflowID]; err != nil {
		return nil, err
	}
	w.sent = append(w.sent, o.WorkflowID+" "+o.UpdateName+" "+o.Args[0].(review.Judge).Policy)
	return nil, nil
}

func TestOnlyApprovalsThatTheRulesHaveNotJudgedAreJudged(t *testing.T) {
	destructive := contract.Card{Reason: contract.ReasonDestructive}
	ruled := destructive
	ruled.Policy = "new"
	w := &waiting{}
	for _, memo := range []struct {
		id   string
		memo map[string]any
	}{
		{"opened under others", map[string]any{contract.MemoCard: destructive, judgement.MemoPolicy: "old"}},
		{"opened without rules", map[string]any{contract.MemoCard: destructive}},
		{"judged by others", map[string]any{contract.MemoCard: destructive, judgement.MemoPolicy: "old", judgement.Memo: judgement.List{{Policy: "other"}}}},
		{"ended meanwhile", map[string]any{contract.MemoCard: destructive}},
		{"silent", map[string]any{contract.MemoCard: destructive}},
		{"opened under these", map[string]any{contract.MemoCard: destructive, judgement.MemoPolicy: "new"}},
		{"by an earlier worker", map[string]any{contract.MemoCard: ruled}},
		{"judged by these before", map[string]any{contract.MemoCard: destructive, judgement.Memo: judgement.List{{Policy: "new"}, {Policy: "other"}}}},
		{"a rate limit", map[string]any{contract.MemoCard: contract.Card{Reason: contract.ReasonDestructive, Because: contract.GroundRule, Rule: "hourly"}}},
		{"a question", map[string]any{contract.MemoCard: contract.Card{Reason: contract.ReasonQuestion}}},
		{"a login", map[string]any{}},
	} {
		w.ids, w.memos = append(w.ids, memo.id), append(w.memos, memo.memo)
	}
	away := errors.New("nobody answers")
	w.fails = map[string]error{"ended meanwhile": serviceerror.NewNotFound("x"), "silent": away}
	n, err := worker.JudgeAll(t.Context(), w, "queue", "new")
	if n != 4 || !errors.Is(err, away) {
		t.Errorf("%d, %v", n, err)
	}
	want := []string{"opened under others judge new", "opened without rules judge new", "judged by others judge new"}
	for i, s := range want {
		if len(w.sent) != len(want) || w.sent[i] != s {
			t.Fatalf("sent %q", w.sent)
		}
	}
}
