package board_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	commandpb "go.temporal.io/api/command/v1"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	querypb "go.temporal.io/api/query/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/grpc"

	"agent-stop-and-go/workflows/board"
	"agent-stop-and-go/workflows/contract"
)

const (
	conversation = "11111111-1111-4111-8111-111111111111"
	testRun      = "default-test-run-id" // of the test environment, whose workflow tasks have the number 0
	request      = "r1"
)

// process is a process with a board.
type process struct {
	t     *testing.T
	board *board.Board
}

func newProcess(t *testing.T) process {
	return process{t, board.New(func(string) uint64 { return 7 })}
}

// call makes a call through the interceptor, which the server answers with err.
func (p process) call(req, reply any, err error) {
	p.t.Helper()
	got := p.board.Interceptor()(p.t.Context(), "/m", req, reply, nil, func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error { return err })
	if !errors.Is(got, err) {
		p.t.Fatalf("the call returned %v, want %v", got, err)
	}
}

func delivered(token string) *workflowservice.PollWorkflowTaskQueueResponse {
	return &workflowservice.PollWorkflowTaskQueueResponse{TaskToken: []byte(token), WorkflowExecution: &commonpb.WorkflowExecution{RunId: testRun}}
}

func completed(token string) *workflowservice.RespondWorkflowTaskCompletedRequest {
	return &workflowservice.RespondWorkflowTaskCompletedRequest{TaskToken: []byte(token)}
}

// take has the worker get a workflow task.
func (p process) take(token string) {
	p.call(&workflowservice.PollWorkflowTaskQueueRequest{}, delivered(token), nil)
}

func (p process) respond(token string, err error) {
	p.call(completed(token), &workflowservice.RespondWorkflowTaskCompletedResponse{}, err)
}

// settle runs a workflow that posts a request with an answer. It reports whether it was asked for the outcome.
func (p process) settle(id, answer string) (asked bool) {
	p.t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{board.With(p.board)}})
	env.ExecuteWorkflow(func(ctx workflow.Context) error {
		post := board.Poster(ctx, func([]string) []contract.Request { asked = true; return outcome(id, answer) },
			func() contract.ConversationView { return contract.ConversationView{ID: conversation} })
		post(id)
		return nil
	})
	if err := env.GetWorkflowError(); err != nil {
		p.t.Fatal(err)
	}
	return asked
}

// Two requests settle in one workflow task: the conversation is as it is in the outcome of the last one.
func TestOnlyTheLastOutcomeOfATaskIsCurrent(t *testing.T) {
	p := newProcess(t)
	p.board.Expect("first")
	p.board.Expect("last")
	p.take("t1")
	title := ""
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{board.With(p.board)}})
	env.ExecuteWorkflow(func(ctx workflow.Context) error {
		post := board.Poster(ctx, func(ids []string) []contract.Request { return outcome(ids[0], "done") },
			func() contract.ConversationView { return contract.ConversationView{ID: conversation, Model: title} })
		post("first")
		_ = workflow.Sleep(ctx, time.Second) // as a local activity takes, in the same task
		title = "another"
		post("last")
		return workflow.Sleep(ctx, time.Hour)
	})
	if err := env.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	p.respond("t1", nil)
	for request, current := range map[string]bool{"first": false, "last": true} {
		if _, view, ok := p.board.Await(t.Context(), conversation, []string{request}); !ok || (view != nil) != current {
			t.Errorf("%s: %v, %+v", request, ok, view)
		}
	}
}

// A view is current if nothing has changed it later in its workflow task, and the run goes on.
func TestAViewIsCurrentIfItIsTheLastOfItsTask(t *testing.T) {
	complete := &commandpb.Command{CommandType: enumspb.COMMAND_TYPE_COMPLETE_WORKFLOW_EXECUTION}
	for name, c := range map[string]struct {
		after    func(title *string)
		commands []*commandpb.Command
		current  bool
	}{
		"nothing else":        {func(*string) {}, nil, true},
		"a change":            {func(title *string) { *title = "another" }, nil, false},
		"a change and back":   {func(title *string) { *title = "another"; *title = "" }, nil, true},
		"the end of the run":  {func(*string) {}, []*commandpb.Command{complete}, false},
		"an effect elsewhere": {func(*string) {}, []*commandpb.Command{{CommandType: enumspb.COMMAND_TYPE_START_TIMER}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProcess(t)
			p.board.Expect(request)
			p.take("t1")
			title := ""
			var suite testsuite.WorkflowTestSuite
			env := suite.NewTestWorkflowEnvironment()
			env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{board.With(p.board)}})
			env.ExecuteWorkflow(func(ctx workflow.Context) error {
				view := func() contract.ConversationView { return contract.ConversationView{ID: conversation, Model: title} }
				post := board.Poster(ctx, func([]string) []contract.Request { return outcome(request, "done") }, view)
				workflow.Go(ctx, func(workflow.Context) { c.after(&title) })
				post(request)
				return workflow.Sleep(ctx, time.Hour)
			})
			if err := env.GetWorkflowError(); err != nil {
				t.Fatal(err)
			}
			ended := completed("t1")
			ended.Commands = c.commands
			p.call(ended, &workflowservice.RespondWorkflowTaskCompletedResponse{}, nil)
			_, view, ok := p.board.Await(t.Context(), conversation, []string{request})
			if !ok || (view != nil) != c.current {
				t.Errorf("%v, %+v", ok, view)
			}
			if view != nil && (view.Changes != 7 || view.Bytes == 0) {
				t.Errorf("%+v", view)
			}
		})
	}
}

func outcome(id, answer string) []contract.Request {
	return []contract.Request{{ID: id, Settled: true, Result: &contract.Result{Response: contract.Inline(answer)}}}
}

// answer awaits the outcome of requests. It is "" if there is none to wait for.
func (p process) answer(of string, requests ...string) string {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 5*time.Second)
	defer cancel()
	result, _, ok := p.board.Await(ctx, of, requests)
	if ctx.Err() != nil {
		p.t.Fatal("it waits for ever")
	}
	if !ok {
		return ""
	}
	return result.Settled[0].Result.Response.Inline
}

func (p process) want(want string, requests ...string) {
	p.t.Helper()
	if got := p.answer(conversation, requests...); got != want {
		p.t.Errorf("answered %q, want %q", got, want)
	}
}

func TestAnOutcomeArrivesWhenTheServerHasAcceptedIt(t *testing.T) {
	p := newProcess(t)
	p.board.Expect(request)
	p.take("t1")
	p.settle(request, "done")
	early, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, _, ok := p.board.Await(early, conversation, []string{request}); ok {
		t.Error("it arrived before the server had accepted the workflow task")
	}
	p.call(&workflowservice.RespondWorkflowTaskCompletedRequest{TaskToken: []byte("t1"), IntermediatePage: true}, &workflowservice.RespondWorkflowTaskCompletedResponse{}, nil)
	got := make(chan string)
	go func() { got <- p.answer(conversation, request) }()
	p.respond("t1", nil)
	if a := <-got; a != "done" {
		t.Errorf("answered %q", a)
	}
	p.want("", request) // it comes once
}

// An expectation stays in the order of all for a minute.
func TestAnOutcomeThatWasTakenIsNotKept(t *testing.T) {
	const each, count = 256 << 10, 20
	p := newProcess(t)
	inUse := func() uint64 {
		var s runtime.MemStats
		runtime.GC()
		runtime.GC() // empties pools, too
		runtime.ReadMemStats(&s)
		return s.HeapAlloc
	}
	long := strings.Repeat("x", each)
	before := inUse()
	for i := range count {
		id, token := fmt.Sprint("r", i), fmt.Sprint("t", i)
		p.board.Expect(id)
		p.take(token)
		p.settle(id, long)
		p.respond(token, nil)
		p.want(long, id)
	}
	if after := inUse(); after > before+count*each/2 {
		t.Errorf("%d outcomes of 256 KiB that were taken keep %d KiB", count, (after-before)>>10)
	}
	runtime.KeepAlive(p.board)
}

func TestTasksComeInAllReplies(t *testing.T) {
	for name, take := range map[string]func(process){
		"poll": func(p process) { p.take("t2") },
		"start": func(p process) {
			p.call(&workflowservice.StartWorkflowExecutionRequest{}, &workflowservice.StartWorkflowExecutionResponse{EagerWorkflowTask: delivered("t2")}, nil)
		},
		"completion": func(p process) {
			p.take("t1")
			p.call(completed("t1"), &workflowservice.RespondWorkflowTaskCompletedResponse{WorkflowTask: delivered("t2")}, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProcess(t)
			p.board.Expect(request)
			take(p)
			p.settle(request, "done")
			p.respond("t2", nil)
			p.want("done", request)
		})
	}
}

// A workflow task that the server does not accept is done again, and may come to another end.
func TestWhatTheServerDoesNotAcceptIsNoOutcome(t *testing.T) {
	for name, lose := range map[string]func(process){
		"refused": func(p process) { p.respond("t1", errors.New("the task is gone")) },
		"failed": func(p process) {
			p.call(&workflowservice.RespondWorkflowTaskFailedRequest{TaskToken: []byte("t1")}, &workflowservice.RespondWorkflowTaskFailedResponse{}, nil)
		},
		"replaced": func(process) {},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProcess(t)
			p.board.Expect(request)
			p.take("t1")
			p.settle(request, "lost")
			lose(p)
			p.take("t2")
			p.respond("t1", nil) // too late
			p.respond("t2", nil) // which has settled nothing
			p.take("t3")
			p.settle(request, "done")
			p.respond("t3", nil)
			p.want("done", request)
		})
	}
}

func TestATaskPublishesOnlyItsOwnOutcomes(t *testing.T) {
	p := newProcess(t)
	p.board.Expect(request)
	later := delivered("t1")
	later.StartedEventId = 7 // the outcome is of task 0
	p.call(&workflowservice.PollWorkflowTaskQueueRequest{}, later, nil)
	p.settle(request, "of another task")
	p.respond("t1", nil)
	p.board.Forget(request)
	p.want("", request)
}

func TestAQueryIsNoTask(t *testing.T) {
	p := newProcess(t)
	p.board.Expect(request)
	p.take("t1")
	p.settle(request, "done")
	query := delivered("q")
	query.Query = &querypb.WorkflowQuery{}
	p.call(&workflowservice.PollWorkflowTaskQueueRequest{}, query, nil)
	p.respond("t1", nil)
	p.want("done", request)
}

func TestWhatIsNotExpectedIsNotWaitedFor(t *testing.T) {
	p := newProcess(t)
	p.take("t1")
	if p.settle(request, "done") {
		t.Error("an outcome was made for nobody")
	}
	p.respond("t1", nil)
	p.want("", request)
	p.board.Expect(request)
	p.want("", request, "another")
	p.want("")
	(*board.Board)(nil).Expect(request)
	(*board.Board)(nil).Forget(request)
	if _, _, ok := (*board.Board)(nil).Await(t.Context(), conversation, []string{request}); ok {
		t.Error("a nil board has outcomes")
	}
}

// Callers choose the IDs of requests, so those of two conversations may be equal.
func TestAnOutcomeOfAnotherConversationIsNoAnswer(t *testing.T) {
	p := newProcess(t)
	p.board.Expect(request)
	p.take("t1")
	p.settle(request, "done")
	p.respond("t1", nil)
	if got := p.answer("22222222-2222-4222-8222-222222222222", request); got != "" {
		t.Errorf("answered %q", got)
	}
}

// Whoever waits is to ask the conversation at once when there will be no outcome.
func TestWaitingEndsWhenNothingIsExpectedAnyMore(t *testing.T) {
	on := &commonpb.WorkflowExecution{WorkflowId: contract.ConversationWorkflowID(conversation)}
	for name, end := range map[string]func(process){
		"forgotten": func(p process) { p.board.Forget(request) },
		"terminated": func(p process) {
			p.call(&workflowservice.TerminateWorkflowExecutionRequest{WorkflowExecution: on}, &workflowservice.TerminateWorkflowExecutionResponse{}, nil)
		},
		"reset": func(p process) {
			p.call(&workflowservice.ResetWorkflowExecutionRequest{WorkflowExecution: on}, &workflowservice.ResetWorkflowExecutionResponse{}, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProcess(t)
			p.board.Expect(request)
			waiting, got := make(chan struct{}), make(chan string)
			go func() {
				close(waiting)
				got <- p.answer(conversation, request)
			}()
			<-waiting
			for { // until it waits
				end(p)
				select {
				case a := <-got:
					if a != "" {
						t.Errorf("answered %q", a)
					}
					return
				case <-time.After(time.Millisecond):
				}
			}
		})
	}
}

func TestTheOldestExpectationsEnd(t *testing.T) {
	p := newProcess(t)
	p.board.Expect(request)
	for range 1000 {
		p.board.Expect("other")
	}
	if p.settle(request, "done") {
		t.Error("it is still expected")
	}
}
