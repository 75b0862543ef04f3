package rotation_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"agent-stop-and-go/config/encryption"
	"agent-stop-and-go/deploy/standalone/rotation"
	"agent-stop-and-go/workflows/contract/switches"
)

// run is a run of a workflow, whose values are encrypted with keys.
type run struct {
	id, kind string
	closed   bool
	keys     []string
}

// server has runs; the ID of each run is that of its workflow with a number.
type server struct {
	runs []run
	// renewed is what follows the Control when it gets its signal.
	renewed *run
	signals []string
}

func (s *server) ListWorkflow(_ context.Context, r *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	i := len(r.GetNextPageToken()) // one run on each page
	out := &workflowservice.ListWorkflowExecutionsResponse{Executions: []*workflowpb.WorkflowExecutionInfo{s.runs[i].info()}}
	if i+1 < len(s.runs) {
		out.NextPageToken = make([]byte, i+1)
	}
	return out, nil
}

func (r run) info() *workflowpb.WorkflowExecutionInfo {
	status := enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
	if r.closed {
		status = enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED
	}
	return &workflowpb.WorkflowExecutionInfo{
		Execution: &commonpb.WorkflowExecution{WorkflowId: r.id, RunId: "run of " + strings.Join(r.keys, " ")}, Type: &commonpb.WorkflowType{Name: r.kind}, Status: status,
	}
}

func (s *server) DescribeWorkflowExecution(_ context.Context, id, _ string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	for i := len(s.runs) - 1; i >= 0; i-- {
		if s.runs[i].id == id {
			return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: s.runs[i].info()}, nil
		}
	}
	return nil, serviceerror.NewNotFound("none")
}

func (s *server) GetWorkflowHistory(_ context.Context, id, runID string, wait bool, _ enumspb.HistoryEventFilterType) client.HistoryEventIterator {
	for _, r := range s.runs {
		if r.id == id && r.info().GetExecution().GetRunId() == runID {
			if wait && !r.closed {
				return &iterator{err: errors.New("no worker")}
			}
			return &iterator{keys: r.keys}
		}
	}
	return &iterator{err: serviceerror.NewNotFound("gone")}
}

func (s *server) SignalWorkflow(_ context.Context, _, _, signal string, _ any) error {
	s.signals = append(s.signals, signal)
	if s.renewed != nil {
		s.runs[0].closed = true
		s.runs = append(s.runs, *s.renewed)
	}
	return nil
}

// iterator has an event for each key: an input, and then failures.
type iterator struct {
	keys []string
	next int
	err  error
}

func (i *iterator) HasNext() bool { return i.err != nil || i.next < len(i.keys) }

func (i *iterator) Next() (*historypb.HistoryEvent, error) {
	if i.err != nil {
		err := i.err
		i.err = nil
		return nil, err
	}
	value := &commonpb.Payload{Metadata: map[string][]byte{"encoding": []byte(encryption.Encoding), encryption.MetadataKeyID: []byte(i.keys[i.next])}}
	i.next++
	if i.next == 1 {
		return &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
			WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{Input: &commonpb.Payloads{Payloads: []*commonpb.Payload{value}}},
		}}, nil
	}
	return &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_ActivityTaskFailedEventAttributes{
		ActivityTaskFailedEventAttributes: &historypb.ActivityTaskFailedEventAttributes{Failure: &failurepb.Failure{EncodedAttributes: value}},
	}}, nil
}

func control(keys ...string) run {
	return run{id: switches.WorkflowID, kind: switches.Workflow, keys: keys}
}

func TestWhatNeedsAKeyIsListed(t *testing.T) {
	former := control("old")
	former.closed = true
	s := &server{runs: []run{
		{"c1", "Conversation", true, []string{"old"}}, {"c2", "Conversation", false, []string{"new", "old"}}, {"c3", "Conversation", false, []string{"new"}},
		{"c4", "Conversation", false, []string{"old"}}, {"a1", "Approval", true, []string{"old"}}, {"u", "Upkeep", true, nil}, former, control("new"),
	}}
	got, err := rotation.Rotation{Server: s, Namespace: "n", Key: "old"}.Needs(t.Context())
	want := []rotation.Need{{Type: "Approval", Closed: 1, Example: "a1"}, {Type: "Conversation", Running: 2, Closed: 1, Example: "c2"}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("(-want +got):\n%s%v", diff, err)
	}
}

func TestTheControlIsRenewedIfItNeedsTheKey(t *testing.T) {
	next := func(key string) *run { r := control(key); return &r }
	for name, tt := range map[string]struct {
		runs    []run
		renewed *run
		signals int
		problem string
	}{
		"there is none":             {nil, nil, 0, ""},
		"it needs another":          {[]run{control("new")}, nil, 0, ""},
		"it needs the key":          {[]run{control("old")}, next("new"), 1, ""},
		"a worker has the old file": {[]run{control("old", "older")}, next("old"), 1, "still encrypts with the key"},
		"there is no worker":        {[]run{control("old")}, nil, 1, "no worker"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &server{runs: tt.runs, renewed: tt.renewed}
			err := rotation.Rotation{Server: s, Namespace: "n", Key: "old"}.RenewControl(t.Context())
			if len(s.signals) != tt.signals || (err == nil) != (tt.problem == "") || err != nil && !strings.Contains(err.Error(), tt.problem) {
				t.Errorf("signals %v, %v", s.signals, err)
			}
		})
	}
}
