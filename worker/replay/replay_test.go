package replay_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	sdkworkflow "go.temporal.io/sdk/workflow"

	"agent-stop-and-go/worker"
	"agent-stop-and-go/worker/replay"
	"agent-stop-and-go/workflows/credential/header"
)

const histories = "../../workflows/testdata/histories"

// shelf is a server with recorded histories. Every list has one page for each run.
type shelf struct {
	histories []*historypb.History
	queries   []string
}

func (s *shelf) ListWorkflow(_ context.Context, r *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	s.queries = append(s.queries, r.Query)
	status := enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED
	if strings.Contains(r.Query, "Running") {
		status = enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
	}
	out := &workflowservice.ListWorkflowExecutionsResponse{}
	for _, h := range s.histories[len(r.NextPageToken):] {
		out.NextPageToken = append(r.NextPageToken, 1)
		if open := !closes(h); open != (status == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING) {
			r.NextPageToken = out.NextPageToken
			continue
		}
		began := h.Events[0].GetWorkflowExecutionStartedEventAttributes()
		out.Executions = append(out.Executions, &workflowpb.WorkflowExecutionInfo{
			Execution: &commonpb.WorkflowExecution{WorkflowId: began.WorkflowId, RunId: began.OriginalExecutionRunId}, Type: began.WorkflowType, Status: status,
		})
		break
	}
	if len(out.NextPageToken) == len(s.histories) {
		out.NextPageToken = nil
	}
	return out, nil
}

func closes(h *historypb.History) bool {
	switch h.Events[len(h.Events)-1].EventType {
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW:
		return true
	}
	return false
}

func (s *shelf) GetWorkflowHistory(_ context.Context, id, run string, _ bool, _ enumspb.HistoryEventFilterType) client.HistoryEventIterator {
	for _, h := range s.histories {
		if began := h.Events[0].GetWorkflowExecutionStartedEventAttributes(); began.WorkflowId == id && began.OriginalExecutionRunId == run {
			return &iterator{events: h.Events}
		}
	}
	return &iterator{err: serviceerror.NewNotFound("gone")}
}

type iterator struct {
	events []*historypb.HistoryEvent
	err    error
}

func (i *iterator) HasNext() bool { return len(i.events) > 0 || i.err != nil }

func (i *iterator) Next() (*historypb.HistoryEvent, error) {
	if i.err != nil {
		err := i.err
		i.err = nil
		return nil, err
	}
	e := i.events[0]
	i.events = i.events[1:]
	return e, nil
}

func recorded(t *testing.T, name string) *historypb.History {
	t.Helper()
	f, err := os.Open(filepath.Join(histories, name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h, err := client.HistoryFromJSON(f, client.HistoryJSONOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// run replays the histories of a shelf.
func run(t *testing.T, s replay.Server, limit int) (replay.Summary, []replay.Break) {
	t.Helper()
	r, err := worker.NewReplayer(client.Options{ContextPropagators: []sdkworkflow.ContextPropagator{header.Propagator()}})
	if err != nil {
		t.Fatal(err)
	}
	var broken []replay.Break
	sum, err := replay.Replay{
		Server: s, Namespace: "default", TaskQueues: []string{"agent", "agent-control"}, Since: time.Date(2026, 11, 17, 0, 0, 0, 0, time.UTC), Limit: limit,
		Replayer: r, Broken: func(b replay.Break) { broken = append(broken, b) },
	}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return sum, broken
}

func TestRecordedHistoriesOfAllTypesDoNotBreak(t *testing.T) {
	s := &shelf{}
	for _, name := range []string{"simple", "approve", "reject", "continue-as-new", "nested", "parallel-node", "approval-left", "control", "paused-approval", "push", "delivery", "deletion", "upkeep"} {
		s.histories = append(s.histories, recorded(t, name))
	}
	sum, broken := run(t, s, 0)
	if len(broken) > 0 || sum.Broken != 0 || sum.Replayed != len(s.histories) || len(sum.Types) < 6 {
		t.Errorf("%+v, %+v", sum, broken)
	}
	want := []string{
		"TaskQueue IN ('agent', 'agent-control') AND ExecutionStatus = 'Running'",
		"TaskQueue IN ('agent', 'agent-control') AND CloseTime >= '2026-11-17T00:00:00Z'",
	}
	if s.queries[0] != want[0] || s.queries[len(s.queries)-1] != want[1] {
		t.Errorf("%q", s.queries)
	}
}

// scheduled returns the first event of a history that schedules an activity.
func scheduled(h *historypb.History) *historypb.HistoryEvent {
	for _, e := range h.Events {
		if e.EventType == enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED {
			return e
		}
	}
	return nil
}

func TestAHistoryThatBreaksIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(h *historypb.History) (event int64)
		want   string
	}{
		"another activity": {func(h *historypb.History) int64 {
			e := scheduled(h)
			e.GetActivityTaskScheduledEventAttributes().ActivityType.Name = "earlier"
			return e.EventId
		}, "the history has ActivityTaskScheduled earlier; this version does ScheduleActivityTask generate instead"},
		"a type that is gone": {func(h *historypb.History) int64 {
			h.Events[0].GetWorkflowExecutionStartedEventAttributes().WorkflowType.Name = "Chat"
			return 0
		}, "this version has no workflow of type Chat"},
		"a timer where an activity was": {func(h *historypb.History) int64 {
			e := scheduled(h)
			e.EventType = enumspb.EVENT_TYPE_TIMER_STARTED
			e.Attributes = &historypb.HistoryEvent_TimerStartedEventAttributes{TimerStartedEventAttributes: &historypb.TimerStartedEventAttributes{
				TimerId: "99", WorkflowTaskCompletedEventId: e.GetActivityTaskScheduledEventAttributes().GetWorkflowTaskCompletedEventId(),
			}}
			return e.EventId
		}, "the history has the command Timer 99; this version did not give it"},
		"an end that does not come": {func(h *historypb.History) int64 {
			e := scheduled(h)
			e.EventType = enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED
			e.Attributes = &historypb.HistoryEvent_WorkflowExecutionCompletedEventAttributes{WorkflowExecutionCompletedEventAttributes: &historypb.WorkflowExecutionCompletedEventAttributes{
				WorkflowTaskCompletedEventId: e.GetActivityTaskScheduledEventAttributes().GetWorkflowTaskCompletedEventId(),
			}}
			h.Events = h.Events[:e.EventId]
			return 0
		}, "this version does ScheduleActivityTask generate, which is not in the history"},
	} {
		t.Run(name, func(t *testing.T) {
			h := recorded(t, "approve")
			event := c.damage(h)
			began := h.Events[0].GetWorkflowExecutionStartedEventAttributes()
			sum, broken := run(t, &shelf{histories: []*historypb.History{recorded(t, "simple"), h}}, 0)
			if sum.Replayed != 2 || len(broken) != 1 {
				t.Fatalf("%+v, %+v", sum, broken)
			}
			b := broken[0]
			t.Logf("%+v", b)
			if b.WorkflowID != began.WorkflowId || b.RunID != began.OriginalExecutionRunId || b.Type != began.WorkflowType.Name || b.Event != event || !strings.Contains(b.Problem, c.want) {
				t.Errorf("expected event %d and %q", event, c.want)
			}
			if strings.Contains(b.Problem+b.SDK, "TMPRL") && strings.Contains(b.Problem, "TMPRL") || b.SDK == "" || b.Advice == "" {
				t.Errorf("the problem has a code of the SDK: %s", b.Problem)
			}
		})
	}
}

func TestTheLimitIsSaid(t *testing.T) {
	s := &shelf{histories: []*historypb.History{recorded(t, "simple"), recorded(t, "approve")}}
	if sum, _ := run(t, s, 1); sum.Replayed != 1 || !sum.Cut {
		t.Errorf("%+v", sum)
	}
	if sum, _ := run(t, s, 2); sum.Replayed != 2 || sum.Cut {
		t.Errorf("%+v", sum)
	}
}

// away is a server that lists and then forgets, or cannot be reached.
type away struct {
	shelf
	err error
}

func (a *away) GetWorkflowHistory(context.Context, string, string, bool, enumspb.HistoryEventFilterType) client.HistoryEventIterator {
	return &iterator{err: a.err}
}

func TestRunsThatAreDeletedMeanwhileAreCounted(t *testing.T) {
	s := &away{shelf{histories: []*historypb.History{recorded(t, "simple")}}, serviceerror.NewNotFound("gone")}
	if sum, broken := run(t, s, 0); sum.Gone != 1 || sum.Replayed != 0 || len(broken) > 0 {
		t.Errorf("%+v, %+v", sum, broken)
	}
	s.err = serviceerror.NewUnavailable("no")
	_, err := replay.Replay{Server: s, Since: time.Now()}.Run(t.Context())
	var down *serviceerror.Unavailable
	if !errors.As(err, &down) {
		t.Error(err)
	}
}
