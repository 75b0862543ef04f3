package repair_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"agent-stop-and-go/deploy/standalone/repair"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/ticket"
)

const queue = "agent"

// server has one conversation whose task fails, and the histories of it and of its children.
type server struct {
	histories map[string][]*historypb.HistoryEvent
	attempt   int32
	deleted   string // a workflow that is listed before it, and not there any more
	reset     *workflowservice.ResetWorkflowExecutionRequest
}

func (s *server) ListWorkflow(_ context.Context, r *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	if !strings.Contains(r.GetQuery(), "TemporalReportedProblems") {
		return &workflowservice.ListWorkflowExecutionsResponse{}, nil
	}
	found := []*workflowpb.WorkflowExecutionInfo{s.info(), s.info()}
	if found[0].Execution.WorkflowId = s.deleted; s.deleted == "" {
		found = found[1:]
	}
	return &workflowservice.ListWorkflowExecutionsResponse{Executions: found}, nil
}

func (s *server) info() *workflowpb.WorkflowExecutionInfo {
	return &workflowpb.WorkflowExecutionInfo{
		Execution: &commonpb.WorkflowExecution{WorkflowId: "conversation-1", RunId: "run"}, TaskQueue: queue,
		Type: &commonpb.WorkflowType{Name: contract.WorkflowConversation}, Status: enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING,
	}
}

func (s *server) DescribeWorkflowExecution(_ context.Context, workflowID, _ string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	if workflowID == s.deleted {
		return nil, serviceerror.NewNotFound("workflow not found")
	}
	return &workflowservice.DescribeWorkflowExecutionResponse{
		WorkflowExecutionInfo: s.info(), PendingWorkflowTask: &workflowpb.PendingWorkflowTaskInfo{Attempt: s.attempt},
	}, nil
}

func (s *server) GetWorkflowHistory(_ context.Context, workflowID, _ string, _ bool, _ enumspb.HistoryEventFilterType) client.HistoryEventIterator {
	events, ok := s.histories[workflowID]
	return &iterator{events: events, lost: !ok}
}

func (s *server) ResetWorkflowExecution(_ context.Context, r *workflowservice.ResetWorkflowExecutionRequest) (*workflowservice.ResetWorkflowExecutionResponse, error) {
	s.reset = r
	return &workflowservice.ResetWorkflowExecutionResponse{RunId: "next"}, nil
}

type iterator struct {
	events []*historypb.HistoryEvent
	lost   bool
}

func (i *iterator) HasNext() bool { return i.lost || len(i.events) > 0 }

func (i *iterator) Next() (*historypb.HistoryEvent, error) {
	if i.lost {
		return nil, errors.New("not found")
	}
	e := i.events[0]
	i.events = i.events[1:]
	return e, nil
}

// numbered gives events their numbers, from 1.
func numbered(events ...*historypb.HistoryEvent) []*historypb.HistoryEvent {
	for i, e := range events {
		e.EventId = int64(i + 1)
	}
	return events
}

func input(v any) *commonpb.Payloads {
	p, err := converter.GetDefaultDataConverter().ToPayloads(v)
	if err != nil {
		panic(err)
	}
	return p
}

func encrypted() *commonpb.Payloads {
	return &commonpb.Payloads{Payloads: []*commonpb.Payload{{Metadata: map[string][]byte{"encoding": []byte("binary/encrypted")}, Data: []byte("x")}}}
}

func begins() *historypb.HistoryEvent {
	return &historypb.HistoryEvent{EventType: enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED}
}

func taskDone() *historypb.HistoryEvent {
	return &historypb.HistoryEvent{EventType: enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED}
}

func taskFails() *historypb.HistoryEvent {
	return &historypb.HistoryEvent{EventType: enumspb.EVENT_TYPE_WORKFLOW_TASK_FAILED, Attributes: &historypb.HistoryEvent_WorkflowTaskFailedEventAttributes{
		WorkflowTaskFailedEventAttributes: &historypb.WorkflowTaskFailedEventAttributes{Failure: &failurepb.Failure{Message: "nondeterminism"}},
	}}
}

func starts(activity string, in *commonpb.Payloads) *historypb.HistoryEvent {
	return &historypb.HistoryEvent{EventType: enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED, Attributes: &historypb.HistoryEvent_ActivityTaskScheduledEventAttributes{
		ActivityTaskScheduledEventAttributes: &historypb.ActivityTaskScheduledEventAttributes{ActivityType: &commonpb.ActivityType{Name: activity}, Input: in},
	}}
}

func calls(tool string, destructive bool) *historypb.HistoryEvent {
	return starts(contract.ActivityCallTool.Name, input(contract.CallToolInput{Tool: tool, Server: "shop", Destructive: destructive}))
}

// marks is the marker of a local activity that has started a call.
func marks(once *ticket.Once, ended bool) *historypb.HistoryEvent {
	s := ticket.Started[contract.CallToolResult]{Ticket: &ticket.Ticket{Queue: "own", ID: "t1"}}
	if ended {
		s = ticket.Started[contract.CallToolResult]{Result: &contract.CallToolResult{}, Once: once}
	}
	return marker(input(map[string]string{"ActivityType": ticket.StartOf(contract.ActivityCallTool).Name}), input(s))
}

func marker(data, result *commonpb.Payloads) *historypb.HistoryEvent {
	return &historypb.HistoryEvent{EventType: enumspb.EVENT_TYPE_MARKER_RECORDED, Attributes: &historypb.HistoryEvent_MarkerRecordedEventAttributes{
		MarkerRecordedEventAttributes: &historypb.MarkerRecordedEventAttributes{
			MarkerName: "LocalActivity", Details: map[string]*commonpb.Payloads{"data": data, "result": result},
		},
	}}
}

func ends(scheduled int64) *historypb.HistoryEvent {
	return &historypb.HistoryEvent{EventType: enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED, Attributes: &historypb.HistoryEvent_ActivityTaskCompletedEventAttributes{
		ActivityTaskCompletedEventAttributes: &historypb.ActivityTaskCompletedEventAttributes{ScheduledEventId: scheduled},
	}}
}

func child(kind, id string) *historypb.HistoryEvent {
	return &historypb.HistoryEvent{EventType: enumspb.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_STARTED, Attributes: &historypb.HistoryEvent_ChildWorkflowExecutionStartedEventAttributes{
		ChildWorkflowExecutionStartedEventAttributes: &historypb.ChildWorkflowExecutionStartedEventAttributes{
			WorkflowType: &commonpb.WorkflowType{Name: kind}, WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: id, RunId: "run"},
		},
	}}
}

func TestWhatAResetIsOfferedFor(t *testing.T) {
	tests := map[string]struct {
		events   []*historypb.HistoryEvent
		children map[string][]*historypb.HistoryEvent
		blocked  string   // beginning of why none is offered; "" offers one
		calls    []string // that are named, with + if they ran
	}{
		"a model was asked":                 {events: numbered(begins(), taskDone(), starts(contract.ActivityGenerate.Name, nil), ends(3), taskFails())},
		"a call that changes nothing":       {events: numbered(begins(), taskDone(), calls("look", false), ends(3), taskFails())},
		"a call that has ended before":      {events: numbered(begins(), taskDone(), calls("refund", true), ends(3), taskDone(), taskFails())},
		"a call after the point":            {events: numbered(begins(), taskDone(), calls("refund", true), ends(3), taskFails()), blocked: "destructive calls", calls: []string{"refund+"}},
		"a call after the point, unended":   {events: numbered(begins(), taskDone(), calls("refund", true), taskFails()), blocked: "destructive calls", calls: []string{"refund"}},
		"a call that was running then":      {events: numbered(begins(), taskDone(), calls("refund", true), taskDone(), ends(3), taskFails()), blocked: "destructive calls", calls: []string{"refund+"}},
		"a call that is running still":      {events: numbered(begins(), taskDone(), calls("refund", true), taskDone(), taskFails()), blocked: "destructive calls", calls: []string{"refund"}},
		"a harmless call was running then":  {events: numbered(begins(), taskDone(), calls("look", false), taskDone(), ends(3), taskFails())},
		"a call that cannot be read":        {events: numbered(begins(), taskDone(), starts(contract.ActivityCallTool.Name, nil), taskFails()), blocked: "destructive calls", calls: []string{"a call that cannot be read"}},
		"a call that is encrypted":          {events: numbered(begins(), taskDone(), starts(contract.ActivityCallTool.Name, encrypted()), taskFails()), blocked: "destructive calls", calls: []string{"a call that cannot be read"}},
		"a message that cannot be read":     {events: numbered(begins(), taskDone(), starts(contract.ActivityDelegate.Name, nil), taskFails()), blocked: "destructive calls", calls: []string{"a message that cannot be read"}},
		"an activity that nobody knows":     {events: numbered(begins(), taskDone(), starts("new", nil), taskFails()), blocked: "destructive calls", calls: []string{"the activity new"}},
		"a quick call after the point":      {events: numbered(begins(), taskDone(), marks(&ticket.Once{Tool: "refund", Server: "shop"}, true), taskFails()), blocked: "destructive calls", calls: []string{"refund+"}},
		"a quick call before the point":     {events: numbered(begins(), marks(&ticket.Once{Tool: "refund"}, true), taskDone(), taskFails())},
		"a quick call that goes on":         {events: numbered(begins(), taskDone(), marks(&ticket.Once{Tool: "refund"}, false), calls("refund", true), taskFails()), blocked: "destructive calls", calls: []string{"refund"}},
		"a quick call that changes nothing": {events: numbered(begins(), taskDone(), marks(nil, true), taskFails())},
		"a quick call that is encrypted":    {events: numbered(begins(), taskDone(), marker(encrypted(), encrypted()), taskFails()), blocked: "destructive calls", calls: []string{"a call that cannot be read+"}},
		"another marker":                    {events: numbered(begins(), taskDone(), marker(input(map[string]string{"ActivityType": "export_conversation"}), input(7)), taskFails())},
		"nothing was done before":           {events: numbered(begins(), taskFails()), blocked: "no workflow task was completed"},
		"the history of a child is gone":    {events: numbered(begins(), taskDone(), child(contract.WorkflowSequential, "node-1"), taskFails()), blocked: "the history of node-1 cannot be read"},
		"a child that has called":           {events: numbered(begins(), taskDone(), child(contract.WorkflowSequential, "node-1"), taskFails()), children: map[string][]*historypb.HistoryEvent{"node-1": numbered(begins(), taskDone(), calls("refund", true), ends(3))}, blocked: "destructive calls", calls: []string{"refund+"}},
		"a child without destructive calls": {events: numbered(begins(), taskDone(), child(contract.WorkflowSequential, "node-1"), taskFails()), children: map[string][]*historypb.HistoryEvent{"node-1": numbered(begins(), taskDone(), calls("look", false))}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := &server{attempt: 3, histories: map[string][]*historypb.HistoryEvent{"conversation-1": test.events}}
			for id, events := range test.children {
				s.histories[id] = events
			}
			found, err := repair.Finder{Server: s, TaskQueue: queue}.Find(t.Context())
			if err != nil || len(found) != 1 {
				t.Fatalf("%+v, %v", found, err)
			}
			c := found[0]
			if c.Problem != repair.TaskFails || c.Attempts != 2 || c.Cause != "nondeterminism" {
				t.Errorf("%+v", c)
			}
			if (test.blocked == "") != (c.Blocked == "") || !strings.HasPrefix(c.Blocked, test.blocked) {
				t.Errorf("blocked: %q, want %q", c.Blocked, test.blocked)
			}
			var named []string
			for _, call := range c.Calls {
				if call.Ran {
					call.Tool += "+"
				}
				named = append(named, call.Tool)
			}
			if strings.Join(named, ", ") != strings.Join(test.calls, ", ") {
				t.Errorf("calls: %v, want %v", named, test.calls)
			}
			checkReset(t, s, c)
		})
	}
}

// checkReset resets a case, which must reach the server only if it was offered.
func checkReset(t *testing.T, s *server, c repair.Case) {
	t.Helper()
	blocked := c.Blocked != ""
	if err := (repair.Finder{Server: s, TaskQueue: queue}).Reset(t.Context(), &c); err != nil {
		t.Fatal(err)
	}
	if blocked != (s.reset == nil) || blocked != (c.NewRun == "") {
		t.Errorf("blocked %v: %v, new run %q", blocked, s.reset, c.NewRun)
	}
	if !blocked && s.reset.GetWorkflowTaskFinishEventId() != c.Event {
		t.Errorf("reset to %d, want %d", s.reset.GetWorkflowTaskFinishEventId(), c.Event)
	}
}

func TestAWorkflowThatWasDeletedMeanwhileHidesNoOther(t *testing.T) {
	s := &server{histories: map[string][]*historypb.HistoryEvent{"conversation-1": numbered(begins(), taskDone(), taskFails())}, attempt: 9, deleted: "conversation-0"}
	f := repair.Finder{Server: s, TaskQueue: queue}
	cases, err := f.Find(t.Context())
	if err != nil || len(cases) != 1 || cases[0].WorkflowID != "conversation-1" {
		t.Errorf("%+v %v", cases, err)
	}
	if _, _, err := f.Examine(t.Context(), "conversation-0"); err == nil {
		t.Error("a workflow that somebody names must be there")
	}
}

func TestWhatGoesOnByItselfIsNoCase(t *testing.T) {
	s := &server{attempt: 1, histories: map[string][]*historypb.HistoryEvent{"conversation-1": numbered(begins(), taskDone())}}
	if found, err := (repair.Finder{Server: s, TaskQueue: queue}).Find(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("%+v, %v", found, err)
	}
	if err := (repair.Finder{Server: s, TaskQueue: queue}).Reset(t.Context(), &repair.Case{WorkflowID: "conversation-1", RunID: "run", Event: 2}); err == nil {
		t.Error("a workflow that goes on is reset")
	}
}

func TestAPointThatIsNoTaskIsRefused(t *testing.T) {
	s := &server{attempt: 3, histories: map[string][]*historypb.HistoryEvent{"conversation-1": numbered(begins(), taskDone(), taskFails())}}
	c, _, err := repair.Finder{Server: s, TaskQueue: queue, Event: 3}.Examine(t.Context(), "conversation-1")
	if err != nil || !strings.HasPrefix(c.Blocked, "event 3 is no workflow task") {
		t.Errorf("%+v, %v", c, err)
	}
}
