package auditor_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	historypb "go.temporal.io/api/history/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/types/known/timestamppb"

	"agent-stop-and-go/activities/audit/merkle"
	"agent-stop-and-go/deploy/standalone/auditor"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/audit"
)

// histories is a server with the history of one conversation, run-1.
type histories struct {
	client.Client
	events []*historypb.HistoryEvent
}

func (h histories) ListWorkflow(context.Context, *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	return &workflowservice.ListWorkflowExecutionsResponse{Executions: []*workflowpb.WorkflowExecutionInfo{
		{Execution: &commonpb.WorkflowExecution{WorkflowId: "conversation-c", RunId: "run-1"}, Type: &commonpb.WorkflowType{Name: contract.WorkflowConversation}},
		{Execution: &commonpb.WorkflowExecution{WorkflowId: "audit", RunId: "run-2"}, Type: &commonpb.WorkflowType{Name: audit.Workflow}},
	}}, nil
}

func (h histories) GetWorkflowHistory(_ context.Context, _, run string, _ bool, _ enumspb.HistoryEventFilterType) client.HistoryEventIterator {
	if run != "run-1" {
		panic("the history of a workflow that calls nothing is read")
	}
	return &iterator{h.events}
}

type iterator struct{ left []*historypb.HistoryEvent }

func (i *iterator) HasNext() bool { return len(i.left) > 0 }

func (i *iterator) Next() (*historypb.HistoryEvent, error) {
	e := i.left[0]
	i.left = i.left[1:]
	return e, nil
}

// scheduled appends an activity with its end, which may be nil.
func (h *histories) scheduled(t *testing.T, id, name string, in any, at time.Time, end *historypb.HistoryEvent) {
	t.Helper()
	input, err := converter.GetDefaultDataConverter().ToPayloads(in)
	if err != nil {
		t.Fatal(err)
	}
	n := int64(len(h.events) + 1)
	h.events = append(h.events, &historypb.HistoryEvent{
		EventId: n, EventType: enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED, EventTime: timestamppb.New(at),
		Attributes: &historypb.HistoryEvent_ActivityTaskScheduledEventAttributes{ActivityTaskScheduledEventAttributes: &historypb.ActivityTaskScheduledEventAttributes{
			ActivityId: id, ActivityType: &commonpb.ActivityType{Name: name}, Input: input,
		}},
	})
	switch a := end.GetAttributes().(type) {
	case *historypb.HistoryEvent_ActivityTaskCompletedEventAttributes:
		a.ActivityTaskCompletedEventAttributes.ScheduledEventId = n
	case *historypb.HistoryEvent_ActivityTaskFailedEventAttributes:
		a.ActivityTaskFailedEventAttributes.ScheduledEventId = n
	case *historypb.HistoryEvent_ActivityTaskTimedOutEventAttributes:
		a.ActivityTaskTimedOutEventAttributes.ScheduledEventId = n
	default:
		return
	}
	end.EventId = n + 1
	h.events = append(h.events, end)
}

func completed() *historypb.HistoryEvent {
	return &historypb.HistoryEvent{EventType: enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED, Attributes: &historypb.HistoryEvent_ActivityTaskCompletedEventAttributes{
		ActivityTaskCompletedEventAttributes: &historypb.ActivityTaskCompletedEventAttributes{}}}
}

func failed(k contract.Kind) *historypb.HistoryEvent {
	return &historypb.HistoryEvent{EventType: enumspb.EVENT_TYPE_ACTIVITY_TASK_FAILED, Attributes: &historypb.HistoryEvent_ActivityTaskFailedEventAttributes{
		ActivityTaskFailedEventAttributes: &historypb.ActivityTaskFailedEventAttributes{Failure: &failurepb.Failure{
			FailureInfo: &failurepb.Failure_ApplicationFailureInfo{ApplicationFailureInfo: &failurepb.ApplicationFailureInfo{Type: string(k)}}}}}}
}

func timedOut() *historypb.HistoryEvent {
	return &historypb.HistoryEvent{EventType: enumspb.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT, Attributes: &historypb.HistoryEvent_ActivityTaskTimedOutEventAttributes{
		ActivityTaskTimedOutEventAttributes: &historypb.ActivityTaskTimedOutEventAttributes{}}}
}

func TestTheLogAndTheHistoriesHaveTheSameCalls(t *testing.T) {
	call, safe := contract.CallToolInput{Tool: "remove", Destructive: true}, contract.CallToolInput{Tool: "list"}
	message := contract.DelegateInput{Peer: contract.Peer{Name: "remote"}, Destructive: true}
	poll := contract.DelegateInput{Peer: contract.Peer{Name: "remote"}, Destructive: true, TaskID: "task"}
	later := noon.Add(time.Minute)
	var h histories
	h.scheduled(t, "1", contract.ActivityCallTool.Name, call, noon.Add(-time.Hour), completed()) // before the log
	h.scheduled(t, "2", contract.ActivityCallTool.Name, safe, later, completed())
	h.scheduled(t, "3", contract.ActivityCallTool.Name, call, later, completed())
	h.scheduled(t, "4", contract.ActivityCallTool.Name, call, later, completed()) // not in the log
	h.scheduled(t, "5", contract.ActivityCallTool.Name, call, later, failed(contract.KindPaused))
	h.scheduled(t, "6", contract.ActivityCallTool.Name, call, later, failed(contract.KindToolFailed)) // not in the log
	h.scheduled(t, "7", contract.ActivityCallTool.Name, call, later, timedOut())
	h.scheduled(t, "8", contract.ActivityDelegate.Name, message, later, completed())
	h.scheduled(t, "9", contract.ActivityDelegate.Name, poll, later, completed())
	h.scheduled(t, "10", contract.ActivityCallTool.Name, call, later, nil)
	away := failed(contract.KindToolUnavailable) // the switches could not be read
	details, err := converter.GetDefaultDataConverter().ToPayloads(audit.Unsent{Unsent: true})
	if err != nil {
		t.Fatal(err)
	}
	away.GetActivityTaskFailedEventAttributes().GetFailure().GetApplicationFailureInfo().Details = details
	h.scheduled(t, "11", contract.ActivityCallTool.Name, call, later, away)
	r := auditor.Reader{Contents: merkle.Contents{Leaves: []audit.Leaf{{Kind: audit.KindPolicy, At: noon}}}}
	for _, ref := range []string{"run-1/3", "run-1/8", "run-1/8#2", "run-1/99", "run-0/1"} {
		r.Contents.Leaves = append(r.Contents.Leaves, audit.Leaf{Kind: audit.KindCall, Conversation: "c", Tool: "remove", Activity: ref, At: later})
	}
	got, err := r.Reconcile(t.Context(), h, "default")
	if err != nil {
		t.Fatal(err)
	}
	fault := func(id, text string) auditor.Fault {
		return auditor.Fault{Activity: "run-1/" + id, Workflow: "conversation-c", Tool: "remove", Text: text}
	}
	want := auditor.Reconciliation{
		Matched: 2, Unsent: 3, Running: 1, Before: 1, Gone: 1,
		Faults: []auditor.Fault{
			fault("4", "a destructive call is not in the log"), fault("6", "a destructive call is not in the log"), fault("99", "a call of the log is in no history"),
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
