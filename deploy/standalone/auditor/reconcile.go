package auditor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	historypb "go.temporal.io/api/history/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"agent-stop-and-go/activities/auditing"
	"agent-stop-and-go/deploy/standalone/executions"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/audit"
)

// Fault is a call that only one side knows.
type Fault struct {
	Activity string `json:"activity"` // RUN/ID
	Workflow string `json:"workflow,omitempty"`
	Tool     string `json:"tool,omitempty"`
	Text     string `json:"text"`
}

// Reconciliation compares the log with the histories.
type Reconciliation struct {
	Matched int     `json:"matched"`
	Faults  []Fault `json:"faults"`
	// Gone are calls of the log whose histories are not kept any more.
	Gone int `json:"gone"`
	// Unsent are activities that ended before they sent anything, Running those that have not ended,
	// and Before those that are older than the log.
	Unsent  int `json:"unsent"`
	Running int `json:"running"`
	Before  int `json:"before"`
}

// Reconcile finds for each destructive activity of the histories its call in the log, and the
// reverse.
func (r *Reader) Reconcile(ctx context.Context, server client.Client, namespace string) (Reconciliation, error) {
	c := comparison{out: Reconciliation{Faults: []Fault{}}, calls: map[string][]audit.Leaf{}, runs: map[string]bool{}}
	for _, l := range r.Contents.Leaves {
		if c.began.IsZero() && l.Kind != audit.KindDeletion { // which may have been imported
			c.began = l.At
		}
		if l.Kind == audit.KindCall {
			ref := audit.ActivityOf(l.Activity)
			c.calls[ref] = append(c.calls[ref], l)
		}
	}
	for run, err := range executions.List(ctx, server, namespace, "") {
		if err == nil && slices.Contains(callers, run.GetType().GetName()) {
			err = c.read(ctx, server, run)
		}
		if err != nil {
			return c.out, err
		}
	}
	c.rest()
	return c.out, nil
}

// callers are the workflows that make calls.
var callers = []string{contract.WorkflowConversation, contract.WorkflowSequential, contract.WorkflowParallel, contract.WorkflowLoop}

type comparison struct {
	out   Reconciliation
	began time.Time
	calls map[string][]audit.Leaf // that no activity was found for, by RUN/ID
	runs  map[string]bool         // that were read
}

// activity is a destructive activity of a history.
type activity struct {
	id, tool string
	at       time.Time
	ended    bool
	failure  *failurepb.Failure
	timedOut bool
}

func (c *comparison) read(ctx context.Context, server client.Client, run *workflowpb.WorkflowExecutionInfo) error {
	e := run.GetExecution()
	c.runs[e.GetRunId()] = true
	scheduled := map[int64]*activity{}
	var order []*activity
	it := server.GetWorkflowHistory(ctx, e.GetWorkflowId(), e.GetRunId(), false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for it.HasNext() {
		event, err := it.Next()
		if err != nil {
			return fmt.Errorf("read the history of %s: %w", e.GetWorkflowId(), err)
		}
		if a := destructive(event); a != nil {
			scheduled[event.GetEventId()] = a
			order = append(order, a)
		}
		if id, failure, timedOut, ended := endOf(event); ended && scheduled[id] != nil {
			a := scheduled[id]
			a.ended, a.failure, a.timedOut = true, failure, timedOut
		}
	}
	for _, a := range order {
		c.match(e, a)
	}
	return nil
}

func (c *comparison) match(e *commonpb.WorkflowExecution, a *activity) {
	ref := audit.ActivityRef(e.GetRunId(), a.id, 1)
	_, there := c.calls[ref]
	delete(c.calls, ref)
	switch {
	case there:
		c.out.Matched++
	case !a.ended:
		c.out.Running++
	case a.at.Before(c.began) || c.began.IsZero():
		c.out.Before++
	case a.timedOut || isUnsent(a.failure.GetApplicationFailureInfo()):
		c.out.Unsent++ // the log has a call before it is sent
	default:
		c.out.Faults = append(c.out.Faults, Fault{Activity: ref, Workflow: e.GetWorkflowId(), Tool: a.tool, Text: "a destructive call is not in the log"})
	}
}

// held are the failures of calls that were not made.
var held = []contract.Kind{contract.KindPaused, contract.KindRateLimited}

// isUnsent reports whether a call ended before it was recorded: it was held, or its failure says so.
func isUnsent(f *failurepb.ApplicationFailureInfo) bool {
	var u audit.Unsent
	return slices.Contains(held, contract.Kind(f.GetType())) ||
		f.GetDetails() != nil && converter.GetDefaultDataConverter().FromPayloads(f.GetDetails(), &u) == nil && u.Unsent
}

// rest are the calls that no history has.
func (c *comparison) rest() {
	for ref, leaves := range c.calls {
		run, _, _ := strings.Cut(ref, "/")
		if !c.runs[run] {
			c.out.Gone += len(leaves)
			continue
		}
		for _, l := range leaves {
			c.out.Faults = append(c.out.Faults, Fault{Activity: ref, Workflow: contract.ConversationWorkflowID(l.Conversation), Tool: l.Tool, Text: "a call of the log is in no history"})
		}
	}
	slices.SortFunc(c.out.Faults, func(a, b Fault) int { return strings.Compare(a.Activity, b.Activity) })
}

// destructive returns the activity that an event schedules, if it has an effect.
func destructive(e *historypb.HistoryEvent) *activity {
	s := e.GetActivityTaskScheduledEventAttributes()
	out := &activity{id: s.GetActivityId(), at: e.GetEventTime().AsTime()}
	switch s.GetActivityType().GetName() {
	case contract.ActivityCallTool.Name:
		var in contract.CallToolInput
		if converter.GetDefaultDataConverter().FromPayloads(s.GetInput(), &in) != nil || !in.Destructive {
			return nil
		}
		out.tool = in.Tool
	case contract.ActivityDelegate.Name:
		var in contract.DelegateInput
		if converter.GetDefaultDataConverter().FromPayloads(s.GetInput(), &in) != nil || !auditing.Effective(in) {
			return nil
		}
		out.tool = in.Peer.Tool()
	default:
		return nil
	}
	return out
}

// endOf returns the activity that an event ends.
func endOf(e *historypb.HistoryEvent) (scheduled int64, failure *failurepb.Failure, timedOut, ended bool) {
	switch e.GetEventType() {
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
		return e.GetActivityTaskCompletedEventAttributes().GetScheduledEventId(), nil, false, true
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_FAILED:
		a := e.GetActivityTaskFailedEventAttributes()
		return a.GetScheduledEventId(), a.GetFailure(), false, true
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT:
		return e.GetActivityTaskTimedOutEventAttributes().GetScheduledEventId(), nil, true, true
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_CANCELED:
		return e.GetActivityTaskCanceledEventAttributes().GetScheduledEventId(), nil, true, true
	}
	return 0, nil, false, false
}
