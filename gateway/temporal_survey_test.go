package gateway_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/timestamppb"

	"agent-stop-and-go/gateway/service/backend"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/audit"
	"agent-stop-and-go/workflows/telemetry"
)

// waitingFor is an approval in a list.
func waitingFor(agent string, reason contract.Reason, since time.Time) *workflowpb.WorkflowExecutionInfo {
	return &workflowpb.WorkflowExecutionInfo{
		Execution: &commonpb.WorkflowExecution{WorkflowId: "approval-x"}, StartTime: timestamppb.New(epoch),
		Memo: &commonpb.Memo{Fields: payloads(map[string]any{contract.MemoCard: contract.Card{Reason: reason}})},
		SearchAttributes: &commonpb.SearchAttributes{IndexedFields: payloads(map[string]any{
			contract.AttrAgentName: agent, contract.AttrPendingSince: since,
		})},
	}
}

func TestASurveyCountsWhatWaits(t *testing.T) {
	now, lists := epoch.Add(time.Hour), 0
	pages := map[string]*workflowservice.ListWorkflowExecutionsResponse{
		"": {NextPageToken: []byte("2"), Executions: []*workflowpb.WorkflowExecutionInfo{
			waitingFor("a", contract.ReasonDestructive, epoch.Add(time.Minute)), waitingFor("b", contract.ReasonLimit, epoch),
		}},
		"2": {Executions: []*workflowpb.WorkflowExecutionInfo{waitingFor("a", contract.ReasonDestructive, epoch)}},
	}
	c := &fakeClient{
		ListFn: func(r *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
			lists++
			return pages[string(r.GetNextPageToken())], nil
		},
		CountFn: func(query string) (int64, error) {
			if !strings.Contains(query, "TemporalReportedProblems") || !strings.Contains(query, `TaskQueue = `) {
				t.Errorf("counted %s", query)
			}
			return 3, nil
		},
	}
	var unanswered error
	c.QueryFn = func(r *client.QueryWorkflowWithOptionsRequest) (*client.QueryWorkflowWithOptionsResponse, error) {
		if r.WorkflowID != audit.WorkflowID || r.QueryType != audit.QueryAudit || unanswered != nil {
			return nil, cmp.Or(unanswered, fmt.Errorf("asked %s for %s", r.WorkflowID, r.QueryType))
		}
		return queried(audit.View{Head: audit.Head{Size: 9, Unsigned: 1}, Witnesses: []audit.Witnessed{{Name: "w", Size: 4, Problem: "away", Since: epoch}}})
	}
	s := backend.NewSurveyor(backend.New(backend.Options{Client: c, TaskQueue: "q", Now: func() time.Time { return now }}), "v", "w")
	for range 2 { // the second is kept
		got, err := s.Survey(t.Context())
		slices.SortFunc(got.Waiting, func(a, b telemetry.Waiting) int { return cmp.Compare(a.Agent, b.Agent) })
		want := []telemetry.Waiting{
			{Agent: "a", Reason: contract.ReasonDestructive, Open: 2, Oldest: now.Sub(epoch).Seconds()},
			{Agent: "b", Reason: contract.ReasonLimit, Open: 1, Oldest: now.Sub(epoch).Seconds()},
		}
		if err != nil || got.Stuck != 3 || !slices.Equal(got.Waiting, want) || lists != 2 {
			t.Errorf("%+v after %d lists, %v", got, lists, err)
		}
		behind := []telemetry.Witness{{Name: "v", Unsigned: 9}, {Name: "w", Unsigned: 5, Age: now.Sub(epoch).Seconds()}}
		if !slices.Equal(got.Witnesses, behind) {
			t.Errorf("%+v", got.Witnesses)
		}
		now = now.Add(10 * time.Second)
	}
	now = now.Add(time.Minute)
	unanswered = errors.New("no worker")
	if got, err := s.Survey(t.Context()); err != nil || got.Stuck != 3 || len(got.Witnesses) != 0 {
		t.Errorf("without a worker: %+v, %v", got, err)
	}
	now, lists = now.Add(time.Minute), 2
	c.CountFn = func(string) (int64, error) { return 0, errors.New("away") }
	for range 2 { // a failure is kept too
		if _, err := s.Survey(t.Context()); err == nil || lists != 4 {
			t.Errorf("after a minute: %d lists, %v", lists, err)
		}
		now = now.Add(10 * time.Second)
	}
}
