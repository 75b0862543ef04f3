package repair

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/converter"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/audit"
	"agent-stop-and-go/workflows/contract/ticket"
)

// maxChildren bounds the children whose histories are read for one case.
const maxChildren = 1000

// read finds the point of a reset in the history of a case, and what happened after it.
func (f Finder) read(ctx context.Context, c *Case) error {
	events, err := f.history(ctx, c.WorkflowID, c.RunID)
	if err != nil {
		return err
	}
	at := -1
	for i, e := range events {
		if e.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED && (f.Event == 0 || e.GetEventId() == f.Event) {
			at = i
		}
		if cause := causeIn(e); cause != "" {
			c.Cause = cause
		}
	}
	if at < 0 {
		if f.Event != 0 {
			c.Blocked = fmt.Sprintf("event %d is no workflow task that was completed", f.Event)
		}
		return nil
	}
	c.Event, c.At = events[at].GetEventId(), events[at].GetEventTime().AsTime()
	r := reader{finder: f, found: c, children: maxChildren}
	return r.read(ctx, c.WorkflowID, events[at:], r.noteRunning(c.WorkflowID, events[:at]))
}

func (f Finder) history(ctx context.Context, workflowID, runID string) (events []*historypb.HistoryEvent, err error) {
	it := f.Server.GetWorkflowHistory(ctx, workflowID, runID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for it.HasNext() {
		e, err := it.Next()
		if err != nil {
			return nil, fmt.Errorf("read the history of %s: %w", workflowID, err)
		}
		events = append(events, e)
	}
	return events, nil
}

func causeIn(e *historypb.HistoryEvent) string {
	switch e.GetEventType() {
	case enumspb.EVENT_TYPE_WORKFLOW_TASK_FAILED:
		return e.GetWorkflowTaskFailedEventAttributes().GetFailure().GetMessage()
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED:
		return e.GetWorkflowExecutionFailedEventAttributes().GetFailure().GetMessage()
	}
	return ""
}

// reader looks for destructive calls in events.
type reader struct {
	finder   Finder
	found    *Case
	children int // that may still be read
}

// harmless are the activities that change nothing outside of the conversation, or nothing that may
// not be done twice.
var harmless = []string{
	contract.ActivityGenerate.Name, contract.ActivitySummarize.Name, contract.ActivityListTools.Name, contract.ActivityCompose.Name,
	contract.ActivityOffload.Name, contract.ActivityExport.Name, contract.ActivityNotify.Name, contract.ActivityReadAnswer.Name,
	contract.ActivityWithdraw.Name, audit.ActivityRecord.Name,
	// They are in markers, not in activities of their own.
	ticket.StartOf(contract.ActivityGenerate).Name, ticket.StartOf(contract.ActivitySummarize).Name, ticket.StartOf(contract.ActivityCallTool).Name,
}

// noteRunning notes the destructive calls that events begin and do not end. A reset to a point
// behind these events begins them again.
func (r *reader) noteRunning(workflowID string, events []*historypb.HistoryEvent) noted {
	ended := map[int64]bool{}
	for _, e := range events {
		ended[endedBy(e)] = true
	}
	calls := noted{}
	for _, e := range events {
		if e.GetEventType() == enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED && !ended[e.GetEventId()] {
			r.noteCall(workflowID, e, calls)
		}
	}
	return calls
}

// endedBy returns the event that scheduled the activity which an event ends, or 0.
func endedBy(e *historypb.HistoryEvent) int64 {
	switch e.GetEventType() {
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
		return e.GetActivityTaskCompletedEventAttributes().GetScheduledEventId()
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_FAILED:
		return e.GetActivityTaskFailedEventAttributes().GetScheduledEventId()
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT:
		return e.GetActivityTaskTimedOutEventAttributes().GetScheduledEventId()
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_CANCELED:
		return e.GetActivityTaskCanceledEventAttributes().GetScheduledEventId()
	}
	return 0
}

// noted are positions in found.Calls, by the event that scheduled the call.
type noted map[int64]int

// noteCall notes the activity of an event if it is a destructive call.
func (r *reader) noteCall(workflowID string, e *historypb.HistoryEvent, calls noted) {
	c, destructive := callIn(e.GetActivityTaskScheduledEventAttributes())
	if !destructive {
		return
	}
	c.WorkflowID, c.Event, c.At = workflowID, e.GetEventId(), e.GetEventTime().AsTime()
	calls[e.GetEventId()] = len(r.found.Calls)
	r.found.Calls = append(r.found.Calls, c)
}

// noteMarker notes the call of a marker if it was a destructive one that a local activity has made. The
// marker of one that goes on is followed by its activity.
func (r *reader) noteMarker(workflowID string, e *historypb.HistoryEvent) {
	if c, destructive := callOf(e.GetMarkerRecordedEventAttributes()); destructive {
		c.WorkflowID, c.Event, c.At, c.Ran = workflowID, e.GetEventId(), e.GetEventTime().AsTime(), true
		r.found.Calls = append(r.found.Calls, c)
	}
}

// callOf returns the call of a marker, if it is destructive and has ended. What cannot be read may be.
func callOf(m *historypb.MarkerRecordedEventAttributes) (c Call, destructive bool) {
	if m.GetMarkerName() != "LocalActivity" {
		return Call{}, false
	}
	var of struct{ ActivityType string }
	if err := decode(m.GetDetails()["data"], &of); err != nil {
		return Call{Tool: "a call that cannot be read"}, true
	}
	if of.ActivityType != ticket.StartOf(contract.ActivityCallTool).Name || m.GetFailure() != nil {
		return Call{}, false
	}
	var s ticket.Started[json.RawMessage]
	if err := decode(m.GetDetails()["result"], &s); err != nil {
		return Call{Tool: "a call that cannot be read"}, true
	}
	if s.Once == nil || s.Result == nil {
		return Call{}, false
	}
	return Call{Tool: s.Once.Tool, Server: s.Once.Server}, true
}

func (r *reader) read(ctx context.Context, workflowID string, events []*historypb.HistoryEvent, calls noted) error {
	for _, e := range events {
		switch e.GetEventType() {
		case enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
			r.noteCall(workflowID, e, calls)
		case enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
			if i, ok := calls[endedBy(e)]; ok {
				r.found.Calls[i].Ran = true
			}
		case enumspb.EVENT_TYPE_MARKER_RECORDED:
			r.noteMarker(workflowID, e)
		case enumspb.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_STARTED:
			a := e.GetChildWorkflowExecutionStartedEventAttributes()
			if err := r.readChild(ctx, a.GetWorkflowType().GetName(), a.GetWorkflowExecution()); err != nil {
				return err
			}
		}
	}
	return nil
}

// readChild reads all runs of a child that was started after the point.
func (r *reader) readChild(ctx context.Context, kind string, child *commonpb.WorkflowExecution) error {
	if r.children--; r.children < 0 {
		r.found.Blocked = fmt.Sprintf("it has started more than %d workflows since, which is too much to look at", maxChildren)
		return nil
	}
	switch kind {
	case contract.WorkflowSequential, contract.WorkflowParallel, contract.WorkflowLoop, contract.WorkflowApproval:
	default: // a message to another agent that nobody waits for
		return nil
	}
	for run := child.GetRunId(); run != ""; {
		events, err := r.finder.history(ctx, child.GetWorkflowId(), run)
		if err != nil || len(events) == 0 {
			r.found.Blocked = fmt.Sprintf("the history of %s cannot be read, and it may have made calls: %v", child.GetWorkflowId(), err)
			return ctx.Err()
		}
		if kind == contract.WorkflowApproval {
			r.note(events[0])
		}
		if err := r.read(ctx, child.GetWorkflowId(), events, noted{}); err != nil {
			return err
		}
		run = events[len(events)-1].GetWorkflowExecutionContinuedAsNewEventAttributes().GetNewExecutionRunId()
	}
	return nil
}

// note notes the tool of an approval.
func (r *reader) note(start *historypb.HistoryEvent) {
	var in contract.ApprovalInput
	if decode(start.GetWorkflowExecutionStartedEventAttributes().GetInput(), &in) == nil && !slices.Contains(r.found.Asks, in.Tool) {
		r.found.Asks = append(r.found.Asks, in.Tool)
	}
}

func decode(p *commonpb.Payloads, into any) error {
	return converter.GetDefaultDataConverter().FromPayloads(p, into)
}

// callIn returns the call of an activity, if it is destructive. What cannot be read may be.
func callIn(a *historypb.ActivityTaskScheduledEventAttributes) (c Call, destructive bool) {
	switch name := a.GetActivityType().GetName(); {
	case name == contract.ActivityCallTool.Name:
		var in contract.CallToolInput
		if err := decode(a.GetInput(), &in); err != nil || in.Tool == "" {
			return Call{Tool: "a call that cannot be read"}, true
		}
		return Call{Tool: in.Tool, Server: in.Server}, in.Destructive
	case name == contract.ActivityDelegate.Name:
		var in contract.DelegateInput
		if err := decode(a.GetInput(), &in); err != nil || in.Peer.Name == "" {
			return Call{Tool: "a message that cannot be read"}, true
		}
		return Call{Tool: in.Peer.Tool(), Server: in.Peer.Name}, in.Destructive || in.Decision != ""
	case slices.Contains(harmless, name):
		return Call{}, false
	default:
		return Call{Tool: "the activity " + name}, true
	}
}
