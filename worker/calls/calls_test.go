package calls_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"agent-stop-and-go/worker/calls"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/ticket"
	"agent-stop-and-go/workflows/handover"
)

var ask = contract.Activity[string, string]{Name: "ask"}

const (
	testRun      = "default-test-run-id" // of the test environment
	conversation = "conversation-11111111-1111-4111-8111-111111111111"
	node         = conversation + "/turn-1/team" // holds a workflow task for 100 milliseconds
	moment       = 300 * time.Millisecond        // is longer
	short        = 50 * time.Millisecond         // is shorter
)

// model answers calls and notes how they were made.
type model struct {
	answer func(ctx context.Context, in string) (string, error)

	mu   sync.Mutex
	made []string // the inputs
}

func (m *model) ask(ctx context.Context, in string) (string, error) {
	m.mu.Lock()
	m.made = append(m.made, in)
	m.mu.Unlock()
	return m.answer(ctx, in)
}

func (m *model) asked() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.made)
}

// pause is a model's time to think.
func pause(ctx context.Context, d time.Duration) (string, error) {
	select {
	case <-time.After(d):
		return "answer", nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// bench runs workflows on a worker with a table.
type bench struct {
	*testsuite.TestWorkflowEnvironment
	model *model
	joins []activity.Info // the regular activities
	mu    sync.Mutex
}

// setUp lets calls start in one table and be joined in another, which may be the same.
func setUp(t *testing.T, workflowID string, m *model, start, join *calls.Table) *bench {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	b := &bench{TestWorkflowEnvironment: suite.NewTestWorkflowEnvironment(), model: m}
	b.SetTestTimeout(time.Minute)
	b.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: workflowID, TaskQueue: "common"})
	b.SetWorkerOptions(worker.Options{
		Interceptors: []interceptor.WorkerInterceptor{calls.Heartbeats()}, DeadlockDetectionTimeout: time.Minute,
	})
	b.RegisterActivityWithOptions(calls.Start(start, m.ask), activity.RegisterOptions{Name: ticket.StartOf(ask).Name})
	regular := calls.Join(join, m.ask)
	b.RegisterActivityWithOptions(func(ctx context.Context, in string) (string, error) {
		b.mu.Lock()
		b.joins = append(b.joins, activity.GetInfo(ctx))
		b.mu.Unlock()
		return regular(ctx, in)
	}, activity.RegisterOptions{Name: ask.Name})
	return b
}

// runOnce makes calls that must not be repeated, at the same time.
func (b *bench) runOnce(t *testing.T, inputs ...string) error {
	t.Helper()
	b.ExecuteWorkflow(func(ctx workflow.Context) (err error) {
		o := workflow.ActivityOptions{StartToCloseTimeout: time.Minute, HeartbeatTimeout: time.Minute, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1}}
		group := workflow.NewWaitGroup(ctx)
		for _, in := range inputs {
			group.Go(ctx, func(ctx workflow.Context) {
				_, e := handover.Once(ctx, contract.ExecutionAuto, ask, o, in, ticket.Once{Server: "shop", Tool: in})
				err = errors.Join(err, e)
			})
		}
		group.Wait(ctx)
		return err
	})
	return b.GetWorkflowError()
}

// run calls the model with each input, one after the other.
func (b *bench) run(t *testing.T, inputs ...string) (answer string, err error) {
	t.Helper()
	b.ExecuteWorkflow(func(ctx workflow.Context) (out string, err error) {
		o := workflow.ActivityOptions{
			StartToCloseTimeout: time.Minute, HeartbeatTimeout: time.Minute,
			RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Millisecond, MaximumAttempts: 3},
		}
		for _, in := range inputs {
			if out, err = handover.Run(ctx, contract.ExecutionAuto, ask, o, in); err != nil {
				return "", err
			}
		}
		return out, nil
	})
	if err := b.GetWorkflowError(); err != nil {
		return "", err
	}
	return answer, b.GetWorkflowResult(&answer)
}

func want(t *testing.T, what string, got, want any) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestAQuickCallIsMadeByTheLocalActivity(t *testing.T) {
	m := &model{answer: func(context.Context, string) (string, error) { return "answer", nil }}
	table := calls.New("own", calls.NewWorkflowTasks())
	b := setUp(t, conversation, m, table, table)
	answer, err := b.run(t, "one", "two")
	want(t, "error", err, nil)
	want(t, "answer", answer, "answer")
	want(t, "calls", len(m.asked()), 2)
	want(t, "regular activities", len(b.joins), 0)
}

// TestAWorkflowTaskThatIsDoneAgainRepeatsNoCall runs a workflow again from its beginning, as a
// worker does whose workflow task was not accepted.
func TestAWorkflowTaskThatIsDoneAgainRepeatsNoCall(t *testing.T) {
	m := &model{answer: func(_ context.Context, in string) (string, error) { return "answer to " + in, nil }}
	table := calls.New("own", calls.NewWorkflowTasks())
	for range 2 {
		answer, err := setUp(t, conversation, m, table, table).run(t, "one", "two")
		want(t, "error", err, nil)
		want(t, "answer", answer, "answer to two")
	}
	want(t, "calls", len(m.asked()), 2)

	answer, err := setUp(t, conversation, m, table, table).run(t, "one", "other") // something has happened meanwhile
	want(t, "error", err, nil)
	want(t, "answer", answer, "answer to other")
	want(t, "calls", len(m.asked()), 3)
}

func TestASlowCallIsJoinedAndMadeOnce(t *testing.T) {
	for _, beat := range []string{"before it is joined", "afterwards"} { // close ones are sent as one
		t.Run("heartbeat "+beat, func(t *testing.T) { checkJoin(t, beat == "afterwards") })
	}
}

func checkJoin(t *testing.T, beatsLate bool) {
	m := &model{answer: func(ctx context.Context, _ string) (string, error) {
		if activity.GetInfo(ctx).IsLocalActivity {
			t.Error("the call sees a local activity, which has no heartbeats")
		}
		if beatsLate {
			defer activity.RecordHeartbeat(ctx, "beat")
		} else {
			activity.RecordHeartbeat(ctx, "beat")
		}
		return pause(ctx, moment)
	}}
	table := calls.New("own", nil)
	b := setUp(t, conversation, m, table, table)
	var beats []string
	b.SetOnActivityHeartbeatListener(func(_ *activity.Info, details converter.EncodedValues) {
		var s string
		if err := details.Get(&s); err != nil {
			t.Error(err)
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		beats = append(beats, s)
	})
	answer, err := b.run(t, "one")
	want(t, "error", err, nil)
	want(t, "answer", answer, "answer")
	want(t, "calls", len(m.asked()), 1)
	want(t, "regular activities", len(b.joins), 1)
	want(t, "queue", b.joins[0].TaskQueue, "own")
	b.mu.Lock()
	defer b.mu.Unlock()
	if !slices.Equal(beats, []string{"beat"}) {
		t.Errorf("heartbeats: %v", beats)
	}
}

func TestTheCallsOfOneWorkflowTaskShareItsTime(t *testing.T) {
	m := &model{answer: func(ctx context.Context, _ string) (string, error) { return pause(ctx, 20*time.Millisecond) }}
	table := calls.New("own", calls.NewWorkflowTasks())
	b := setUp(t, node, m, table, table)
	inputs := make([]string, 20)
	_, err := b.run(t, inputs...)
	want(t, "error", err, nil)
	want(t, "calls", len(m.asked()), len(inputs))
	if len(b.joins) == 0 {
		t.Error("none was handed over")
	}
}

func TestAFailureIsRepeatedAsThatOfARegularActivity(t *testing.T) {
	for name, c := range map[string]struct {
		fail  func() error
		calls int
	}{
		"passing":   {func() error { return errors.New("busy") }, 3},
		"permanent": {func() error { return temporal.NewNonRetryableApplicationError("no", "bad", nil) }, 1},
		"crash":     {func() error { panic("index out of range") }, 3},
	} {
		t.Run(name, func(t *testing.T) {
			m := &model{answer: func(context.Context, string) (string, error) { return "", c.fail() }}
			table := calls.New("own", calls.NewWorkflowTasks())
			b := setUp(t, conversation, m, table, table)
			if _, err := b.run(t, "one"); err == nil {
				t.Error("no error")
			}
			want(t, "calls", len(m.asked()), c.calls)
		})
	}
}

func TestACallOfAWorkerThatHasDiedIsMadeAgain(t *testing.T) {
	m := &model{answer: func(ctx context.Context, _ string) (string, error) { return pause(ctx, moment) }}
	b := setUp(t, node, m, calls.New("own", calls.NewWorkflowTasks()), calls.New("own", calls.NewWorkflowTasks()))
	answer, err := b.run(t, "one")
	want(t, "error", err, nil)
	want(t, "answer", answer, "answer")
	want(t, "calls", len(m.asked()), 2)
}

func TestACallThatIsMadeOnceStartsWhereItIsClaimed(t *testing.T) {
	for name, c := range map[string]struct {
		table          *calls.Table
		claims         bool
		regular, fails int
	}{
		"claimed":               {calls.New("own", calls.NewWorkflowTasks()), true, 0, 0},
		"not claimed":           {calls.New("own", calls.NewWorkflowTasks()), false, 1, 0},
		"another server":        {calls.New("own", nil), true, 1, 0},
		"a failure is recorded": {calls.New("own", calls.NewWorkflowTasks()), true, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			m := &model{answer: func(context.Context, string) (string, error) {
				if c.fails > 0 {
					return "", temporal.NewNonRetryableApplicationError("no", "bad", nil)
				}
				return "answer", nil
			}}
			if c.claims {
				c.table.ClaimsCalls()
			}
			b := setUp(t, conversation, m, c.table, c.table)
			if err := b.runOnce(t, "refund"); (err != nil) != (c.fails > 0) {
				t.Error(err)
			}
			want(t, "calls", len(m.asked()), 1)
			want(t, "regular activities", len(b.joins), c.regular)
		})
	}
}

// What has been done once must not wait long for its place in the history.
func TestACallThatIsMadeOnceEndsItsWorkflowTask(t *testing.T) {
	m := &model{answer: func(ctx context.Context, in string) (string, error) {
		if in == "refund" {
			return "answer", nil
		}
		return pause(ctx, moment)
	}}
	table := calls.New("own", calls.NewWorkflowTasks())
	table.ClaimsCalls()
	b := setUp(t, conversation, m, table, table)
	if err := b.runOnce(t, "refund", "slow"); err != nil {
		t.Error(err)
	}
	want(t, "calls", len(m.asked()), 2)
	if len(b.joins) != 1 { // the slow one would otherwise end in the task
		t.Errorf("joined: %+v", b.joins)
	}
}

func TestAClosedTableStartsNothing(t *testing.T) {
	m := &model{answer: func(context.Context, string) (string, error) { return "answer", nil }}
	table := calls.New("own", calls.NewWorkflowTasks())
	table.Close()
	b := setUp(t, conversation, m, table, table)
	_, err := b.run(t, "one")
	want(t, "error", err, nil)
	want(t, "calls", len(m.asked()), 1)
	want(t, "queue", b.joins[0].TaskQueue, "common")
}

func TestWhatNeedsTheConversationHandsItsCallsOver(t *testing.T) {
	execution := &commonpb.WorkflowExecution{WorkflowId: conversation}
	for name, c := range map[string]struct {
		request  proto.Message
		workflow string
		released bool
	}{
		"signal":        {&workflowservice.SignalWorkflowExecutionRequest{WorkflowExecution: execution}, conversation, true},
		"query":         {&workflowservice.QueryWorkflowRequest{Execution: execution}, conversation, true},
		"cancel":        {&workflowservice.RequestCancelWorkflowExecutionRequest{WorkflowExecution: execution}, conversation, true},
		"terminate":     {&workflowservice.TerminateWorkflowExecutionRequest{WorkflowExecution: execution}, conversation, true},
		"reset":         {&workflowservice.ResetWorkflowExecutionRequest{WorkflowExecution: execution}, conversation, true},
		"of its node":   {&workflowservice.SignalWorkflowExecutionRequest{WorkflowExecution: execution}, node, true},
		"wait":          {&workflowservice.UpdateWorkflowExecutionRequest{WorkflowExecution: execution}, conversation, false},
		"of another":    {&workflowservice.QueryWorkflowRequest{Execution: &commonpb.WorkflowExecution{WorkflowId: "x"}}, conversation, false},
		"worker's stop": {nil, conversation, true},
	} {
		t.Run(name, func(t *testing.T) {
			tasks := calls.NewWorkflowTasks()
			table := calls.New("own", tasks)
			m := &model{answer: func(ctx context.Context, _ string) (string, error) {
				if c.request == nil {
					table.Close()
				} else {
					handle(t, tasks, c.request, nil)
				}
				return pause(ctx, short)
			}}
			b := setUp(t, c.workflow, m, table, table)
			_, err := b.run(t, "one")
			want(t, "error", err, nil)
			want(t, "calls", len(m.asked()), 1)
			want(t, "handed over", len(b.joins) == 1, c.released)
		})
	}
}

// handle lets a server with the interceptor of tasks handle a request. during is called meanwhile.
func handle(t *testing.T, tasks *calls.WorkflowTasks, request proto.Message, during func()) {
	t.Helper()
	handled := false
	_, err := tasks.Interceptor()(t.Context(), request, nil, func(context.Context, any) (any, error) {
		handled = true
		if during != nil {
			during()
		}
		return nil, nil
	})
	want(t, "handled", handled, true)
	want(t, "error", err, nil)
}

// The server buffers a request that it handles after the start of a workflow task, also before
// the task has made its first call.
func TestARequestBeforeTheFirstCallHandsItOver(t *testing.T) {
	const started = 7 // event of the workflow task
	signal := &workflowservice.SignalWorkflowExecutionRequest{WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: conversation}}
	for name, c := range map[string]struct {
		arrange  func(signal, start, deliver func(), during func(func()))
		released bool
	}{
		"none":                  {func(_, start, deliver func(), _ func(func())) { start(); deliver() }, false},
		"before the task":       {func(signal, start, deliver func(), _ func(func())) { signal(); start(); deliver() }, false},
		"before its delivery":   {func(signal, start, deliver func(), _ func(func())) { start(); signal(); deliver() }, true},
		"during its delivery":   {func(_, start, deliver func(), during func(func())) { during(func() { start(); deliver() }) }, true},
		"after its delivery":    {func(signal, start, deliver func(), _ func(func())) { start(); deliver(); signal() }, true},
		"before its redelivery": {func(signal, start, deliver func(), _ func(func())) { start(); deliver(); signal(); deliver() }, true},
	} {
		t.Run(name, func(t *testing.T) {
			tasks := calls.NewWorkflowTasks()
			var at time.Time
			c.arrange(
				func() { handle(t, tasks, signal, nil) },
				func() { at = time.Now() },
				func() { deliver(t, tasks, started, at) },
				func(during func()) { handle(t, tasks, signal, during) },
			)
			m := &model{answer: func(ctx context.Context, _ string) (string, error) { return pause(ctx, short) }}
			table := calls.New("own", tasks)
			b := setUp(t, conversation, m, table, table)
			b.SetCurrentHistoryLength(started)
			_, err := b.run(t, "one")
			want(t, "error", err, nil)
			want(t, "calls", len(m.asked()), 1)
			want(t, "handed over", len(b.joins) == 1, c.released)
		})
	}
}

// deliver lets a server with the interceptor of tasks deliver a workflow task.
func deliver(t *testing.T, tasks *calls.WorkflowTasks, event int64, started time.Time) {
	t.Helper()
	deliverAfter(t, tasks, 0, event, started)
}

// deliverAfter is deliver after another task that is complete.
func deliverAfter(t *testing.T, tasks *calls.WorkflowTasks, complete, event int64, started time.Time) {
	t.Helper()
	run := &commonpb.WorkflowExecution{WorkflowId: conversation, RunId: testRun}
	_, err := tasks.Interceptor()(t.Context(), &workflowservice.PollWorkflowTaskQueueRequest{}, nil, func(context.Context, any) (any, error) {
		return &workflowservice.PollWorkflowTaskQueueResponse{
			WorkflowExecution: run, PreviousStartedEventId: complete, StartedEventId: event, StartedTime: timestamppb.New(started),
		}, nil
	})
	want(t, "error", err, nil)
}

func TestACallThatTheWorkflowGivesUpEnds(t *testing.T) {
	ended := make(chan error, 1)
	m := &model{answer: func(ctx context.Context, _ string) (string, error) {
		<-ctx.Done()
		ended <- ctx.Err()
		return "", ctx.Err()
	}}
	table := calls.New("own", calls.NewWorkflowTasks())
	b := setUp(t, conversation, m, table, table)
	b.RegisterDelayedCallback(b.CancelWorkflow, time.Millisecond)
	if _, err := b.run(t, "one"); !temporal.IsCanceledError(err) {
		t.Errorf("the workflow ended with %v", err)
	}
	want(t, "end of the call", <-ended, context.Canceled)
}
