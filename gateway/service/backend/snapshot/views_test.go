package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	querypb "go.temporal.io/api/query/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"

	"agent-stop-and-go/gateway/service/backend/snapshot"
	"agent-stop-and-go/workflows/contract"
)

// source is a workflow whose view is its number of events. It counts the calls.
type source struct {
	events       int64
	busy         bool
	err          error
	marks, views int
}

func (s *source) Mark(context.Context) (snapshot.Mark, error) {
	s.marks++
	if s.busy || s.err != nil {
		return snapshot.Mark{}, s.err
	}
	return snapshot.Mark{Run: "run", Events: s.events}, nil
}

func (s *source) View(context.Context) (contract.ConversationView, error) {
	s.views++
	return contract.ConversationView{Version: s.events}, s.err
}

const id = "conversation-1"

// clock is the clock of a test.
type clock struct{ now time.Time }

func (c *clock) time() time.Time { return c.now }

func read(t *testing.T, v *snapshot.Views, s *source) {
	t.Helper()
	view, err := v.Read(t.Context(), id, s)
	if err != nil {
		t.Fatal(err)
	}
	if view.Version != s.events {
		t.Errorf("the view of event %d was returned, the workflow has %d", view.Version, s.events)
	}
}

func asked(t *testing.T, s *source, marks, views int) {
	t.Helper()
	if s.marks != marks || s.views != views {
		t.Errorf("asked for %d marks and %d views, expected %d and %d", s.marks, s.views, marks, views)
	}
}

func TestAViewIsReadOnceWhileNothingHappens(t *testing.T) {
	v, s := snapshot.New(nil, time.Now), &source{events: 1}
	read(t, v, s)
	asked(t, s, 0, 1) // most conversations are read once
	read(t, v, s)
	asked(t, s, 1, 2)
	read(t, v, s)
	read(t, v, s)
	asked(t, s, 3, 2)
	s.events++
	read(t, v, s)
	asked(t, s, 4, 3)
}

func TestAViewOfABusyWorkflowIsNotKept(t *testing.T) {
	v, s := snapshot.New(nil, time.Now), &source{events: 1, busy: true}
	for range 4 {
		read(t, v, s)
	}
	asked(t, s, 3, 4)
	s.busy = false
	read(t, v, s)
	read(t, v, s)
	asked(t, s, 5, 5)
}

func TestTheServerIsNotAskedWhenNothingWasCounted(t *testing.T) {
	c, changes := &clock{now: time.Now()}, &snapshot.Changes{}
	v, s := snapshot.New(changes, c.time), &source{events: 1}
	for range 10 {
		read(t, v, s)
	}
	asked(t, s, 1, 2)
	c.now = c.now.Add(2 * time.Second) // something may have happened elsewhere
	read(t, v, s)
	asked(t, s, 2, 2)
	for name, call := range map[string]struct{ req, reply any }{
		"a signal":         {&workflowservice.SignalWorkflowExecutionRequest{WorkflowExecution: workflow()}, &workflowservice.SignalWorkflowExecutionResponse{}},
		"a task":           {&workflowservice.PollWorkflowTaskQueueRequest{}, &workflowservice.PollWorkflowTaskQueueResponse{WorkflowExecution: workflow()}},
		"a task in a task": {nil, &workflowservice.RespondWorkflowTaskCompletedResponse{WorkflowTask: &workflowservice.PollWorkflowTaskQueueResponse{WorkflowExecution: workflow()}}},
		"a reset":          {&workflowservice.ResetWorkflowExecutionRequest{WorkflowExecution: workflow()}, &workflowservice.ResetWorkflowExecutionResponse{}},
	} {
		before := s.marks
		s.events++
		pass(t, changes, call.req, call.reply)
		read(t, v, s)
		if s.marks != before+1 {
			t.Errorf("%s was not counted", name)
		}
	}
	before := *s
	pass(t, changes, &workflowservice.DescribeWorkflowExecutionRequest{Execution: workflow()}, &workflowservice.DescribeWorkflowExecutionResponse{})
	pass(t, changes, nil, &workflowservice.PollWorkflowTaskQueueResponse{WorkflowExecution: workflow(), Query: &querypb.WorkflowQuery{}})
	read(t, v, s)
	asked(t, s, before.marks, before.views)
}

func TestAViewThatSomebodyKnowsIsNotRead(t *testing.T) {
	c, changes := &clock{now: time.Now()}, &snapshot.Changes{}
	v, s := snapshot.New(changes, c.time), &source{events: 1}
	keep := func(bytes int) {
		v.Keep(id, contract.ConversationView{Version: s.events}, changes.Count(id), bytes)
	}
	keep(1000)
	read(t, v, s)
	read(t, v, s)
	asked(t, s, 0, 0)
	c.now = c.now.Add(2 * time.Second) // something may have happened elsewhere
	read(t, v, s)
	asked(t, s, 0, 1)

	keep(1000)
	s.events++
	pass(t, changes, nil, &workflowservice.PollWorkflowTaskQueueResponse{WorkflowExecution: workflow()})
	read(t, v, s)
	asked(t, s, 1, 2)

	keep(1 << 20) // too large for all of them
	s.events++
	pass(t, changes, nil, &workflowservice.PollWorkflowTaskQueueResponse{WorkflowExecution: workflow()})
	read(t, v, s)
	asked(t, s, 2, 3)
}

func TestWithoutChangesNothingIsKept(t *testing.T) {
	v, s := snapshot.New(nil, time.Now), &source{events: 1}
	v.Keep(id, contract.ConversationView{Version: 9}, 0, 1000)
	read(t, v, s)
	asked(t, s, 0, 1)
}

func TestAFailedReadingIsNotKept(t *testing.T) {
	v, s := snapshot.New(nil, time.Now), &source{events: 1, err: errors.New("not now")}
	for range 3 {
		if _, err := v.Read(t.Context(), id, s); !errors.Is(err, s.err) {
			t.Errorf("got %v", err)
		}
	}
	s.err = nil
	read(t, v, s)
	read(t, v, s)
}

func TestOnlyTheLastViewsAreKept(t *testing.T) {
	v, s := snapshot.New(nil, time.Now), &source{events: 1}
	read(t, v, s)
	read(t, v, s)
	for n := range 300 {
		if _, err := v.Read(t.Context(), fmt.Sprint("other-", n), &source{}); err != nil {
			t.Fatal(err)
		}
	}
	marks := s.marks
	read(t, v, s)
	if s.marks != marks {
		t.Error("the oldest view is still kept")
	}
}

// Whoever asks for conversations that do not exist must not push out those that do.
func TestAViewThatCannotBeReadTakesNoRoom(t *testing.T) {
	v, s := snapshot.New(nil, time.Now), &source{events: 1}
	read(t, v, s)
	read(t, v, s)
	missing := errors.New("no such conversation")
	for n := range 300 {
		if _, err := v.Read(t.Context(), fmt.Sprint("missing-", n), &source{err: missing}); !errors.Is(err, missing) {
			t.Fatal(err)
		}
	}
	read(t, v, s)
	asked(t, s, 2, 2)
}

func workflow() *commonpb.WorkflowExecution { return &commonpb.WorkflowExecution{WorkflowId: id} }

// pass sends a request through the interceptor.
func pass(t *testing.T, c *snapshot.Changes, req, reply any) {
	t.Helper()
	err := c.Interceptor()(t.Context(), "/m", req, reply, nil, func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
}
