package gateway_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	commandpb "go.temporal.io/api/command/v1"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/grpc"

	"agent-stop-and-go/gateway/service/backend"
	justasked "agent-stop-and-go/gateway/service/backend/asked"
	"agent-stop-and-go/gateway/service/backend/snapshot"
	"agent-stop-and-go/workflows/board"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/later"
)

// settles has a worker of the process settle a request in an accepted workflow task.
func settles(t *testing.T, b *board.Board, conversation, request, response string) {
	t.Helper()
	pass := func(req, reply any) {
		err := b.Interceptor()(t.Context(), "/m", req, reply, nil, func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error { return nil })
		if err != nil {
			t.Error(err)
		}
	}
	pass(&workflowservice.PollWorkflowTaskQueueRequest{}, &workflowservice.PollWorkflowTaskQueueResponse{
		TaskToken: []byte("task"), WorkflowExecution: &commonpb.WorkflowExecution{RunId: "default-test-run-id"},
	})
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{board.With(b)}})
	env.ExecuteWorkflow(func(ctx workflow.Context) error {
		out, err := answering(response)(context.Background(), conversation, []string{request})
		board.Poster(ctx, func([]string) []contract.Request { return out.Settled }, func() contract.ConversationView { return out.Conversation })(request)
		return errors.Join(err, workflow.Sleep(ctx, time.Hour)) // it goes on
	})
	if err := env.GetWorkflowError(); err != nil {
		t.Error(err)
	}
	pass(&workflowservice.RespondWorkflowTaskCompletedRequest{TaskToken: []byte("task")}, &workflowservice.RespondWorkflowTaskCompletedResponse{})
}

func uncounted(string) uint64 { return 0 }

// inProcess returns a gateway that shares a board with the only worker.
func inProcess(t *testing.T, c *fakeClient, b *board.Board) *api {
	return newAPI(t, nil, onClient(c, func(o *backend.Options) { o.TaskQueue, o.Namespace, o.Board = "queue-1", "space-1", b }))
}

// noUpdate fails the test if a conversation is asked.
func noUpdate(t *testing.T) func(client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	return func(o client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
		t.Errorf("update %s to %s", o.UpdateName, o.WorkflowID)
		return nil, errMissing
	}
}

func TestAFirstReplyComesFromTheBoardOfTheProcess(t *testing.T) {
	b := board.New(uncounted)
	a := inProcess(t, &fakeClient{
		ExecuteFn: func(o client.StartWorkflowOptions, _ any, args []any) (client.WorkflowRun, error) {
			in := args[0].(contract.ConversationInput)
			if !o.EnableEagerStart {
				t.Error("the worker of the process does not get the first workflow task")
			}
			settles(t, b, in.ID, in.First.RequestID, "hello")
			return fakeRun{}, nil
		},
		UpdateFn: noUpdate(t),
	}, b)
	reply := a.want(201, a.do("POST", "/conversations", `{"message":"hi"}`))
	if got := reply.text("result", "response"); got != "hello" {
		t.Errorf("answered %q", got)
	}
}

// A start that is repeated finds the conversation, whose outcome does not come again.
func TestARepeatedStartAsksTheConversation(t *testing.T) {
	b := board.New(uncounted)
	var memo map[string]any
	a := inProcess(t, &fakeClient{
		ExecuteFn: func(o client.StartWorkflowOptions, _ any, _ []any) (client.WorkflowRun, error) {
			memo = o.Memo
			return nil, serviceerror.NewWorkflowExecutionAlreadyStarted("it is there", "", "")
		},
		DescribeFn: func(string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
			return described(enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, memo), nil
		},
		UpdateFn: func(o client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
			return settledBy(o, "hello")
		},
	}, b)
	reply := a.do("POST", "/conversations", `{"message":"hi"}`, "Idempotency-Key: again")
	if got := reply.text("result", "response"); got != "hello" {
		t.Errorf("answered %s", reply.raw)
	}
}

func TestWhatADecisionLeadsToComesFromTheBoardOfTheProcess(t *testing.T) {
	b := board.New(uncounted)
	a := inProcess(t, &fakeClient{
		DecideFn: func(_ string, in contract.DecideSignal) (contract.ApprovalResult, error) {
			settles(t, b, someID, in.RequestID, "done")
			return approvalRecord(contract.Approved, in.RequestID), nil
		},
		DescribeFn: func(string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
			return described(enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, nil), nil
		},
		UpdateFn: noUpdate(t),
	}, b)
	reply := a.want(200, a.do("POST", approvalPath, `{"approved":true}`))
	if got := reply.text("result", "response"); got != "done" {
		t.Errorf("answered %q", got)
	}
}

// Whoever gets an answer and then reads the conversation asks no worker.
func TestAConversationIsReadFromTheBoardAfterItsReply(t *testing.T) {
	changes := &snapshot.Changes{}
	b := board.New(changes.Count)
	var id string
	queries := 0
	c := &fakeClient{
		ExecuteFn: func(_ client.StartWorkflowOptions, _ any, args []any) (client.WorkflowRun, error) {
			in := args[0].(contract.ConversationInput)
			id = in.ID
			settles(t, b, in.ID, in.First.RequestID, "hello")
			return fakeRun{}, nil
		},
		QueryFn: func(*client.QueryWorkflowWithOptionsRequest) (*client.QueryWorkflowWithOptionsResponse, error) {
			queries++
			return nil, errMissing
		},
	}
	a := newAPI(t, nil, onClient(c, func(o *backend.Options) {
		o.TaskQueue, o.Namespace, o.Board, o.Views = "queue-1", "space-1", b, snapshot.New(changes, time.Now)
	}))
	a.want(201, a.do("POST", "/conversations", `{"message":"hi"}`))
	reply := a.want(200, a.do("GET", "/conversations/"+id, ""))
	if got := reply.text("conversation", "id"); got != id || queries != 0 {
		t.Errorf("%s, %d queries", reply.raw, queries)
	}
	_ = changes.Interceptor()(t.Context(), "/m", &workflowservice.SignalWorkflowExecutionRequest{WorkflowExecution: &commonpb.WorkflowExecution{
		WorkflowId: contract.ConversationWorkflowID(id),
	}}, nil, nil, func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error { return nil })
	if a.do("GET", "/conversations/"+id, ""); queries == 0 {
		t.Error("it was not asked after a signal")
	}
}

// A decision is a signal only if the worker of the process does not take it in a second time either.
func TestADecisionWaitsForTheBusyWorkerOfTheProcess(t *testing.T) {
	for name, tt := range map[string]struct{ late, updates, signals int }{
		"busy for a while": {1, 2, 0},
		"stuck":            {100, 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var ids []string
			signals := 0
			a := inProcess(t, &fakeClient{
				DecideIDFn: func(id string) { ids = append(ids, id) },
				DecideFn: func(string, contract.DecideSignal) (contract.ApprovalResult, error) {
					if len(ids) <= tt.late {
						return contract.ApprovalResult{}, client.NewWorkflowUpdateServiceTimeoutOrCanceledError(context.DeadlineExceeded)
					}
					return approvalRecord(contract.Approved, "r"), nil
				},
				DescribeFn: func(string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
					return described(enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, nil), nil
				},
				SignalFn: func(string, string, any) error { signals++; return nil },
			}, board.New(uncounted))
			record, err := a.Backend.Decide(t.Context(), someUUID, contract.DecideSignal{Approved: true})
			if err != nil || (record != nil) != (tt.signals == 0) || len(ids) != tt.updates || ids[0] != ids[1] || signals != tt.signals {
				t.Errorf("%+v, %v, updates %q, %d signals", record, err, ids, signals)
			}
		})
	}
}

// What a worker of the process does late is neither refused nor accepted unread.
func TestTheBusyWorkerOfTheProcessIsAsked(t *testing.T) {
	for name, tt := range map[string]struct {
		board *board.Board
		busy  time.Duration
		taken bool
	}{
		"busy for a while": {board.New(uncounted), 4 * time.Second, true},
		"stuck":            {board.New(uncounted), time.Minute, false},
		"elsewhere":        {nil, 3 * time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				queued := contract.ConversationView{Status: contract.StatusActive, Queued: contract.MaxQueued}
				a := inProcess(t, &fakeClient{
					Busy:     tt.busy,
					UpdateFn: func(client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) { return doneHandle{}, nil },
					QueryFn: func(*client.QueryWorkflowWithOptionsRequest) (*client.QueryWorkflowWithOptionsResponse, error) {
						return &client.QueryWorkflowWithOptionsResponse{QueryResult: encoded{value: queued}}, nil
					},
					DescribeFn: func(string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
						return described(enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, nil), nil
					},
				}, tt.board)
				err := a.Backend.Later(t.Context(), someUUID, later.Deferral{Until: time.Now().Add(time.Hour)})
				if (err == nil) != tt.taken {
					t.Errorf("put off: %v", err)
				}
				view, err := a.Backend.Admit(t.Context(), someID, contract.ConversationQuery{})
				if err != nil || (view.Queued == contract.MaxQueued) != tt.taken {
					t.Errorf("%+v, %v", view, err)
				}
				a.Close()
			})
		})
	}
}

// Who may decide an approval that the worker of the process has just asked for is known without a request.
func TestTheServerIsNotAskedAboutANewApproval(t *testing.T) {
	approvals := justasked.New()
	begun := approvalExecution(someUUID, map[string]any{contract.AttrConversationID: someID, contract.AttrAgentOwner: "keys alice"}, map[string]any{contract.MemoApprovers: []string{"group:ops"}})
	described := 0
	a := newAPI(t, nil, onClient(&fakeClient{DescribeFn: func(string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
		described++
		return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: begun}, nil
	}}, func(o *backend.Options) { o.Asked = approvals }))
	err := approvals.Interceptor()(t.Context(), "/m", &workflowservice.RespondWorkflowTaskCompletedRequest{Commands: []*commandpb.Command{{
		Attributes: &commandpb.Command_StartChildWorkflowExecutionCommandAttributes{StartChildWorkflowExecutionCommandAttributes: &commandpb.StartChildWorkflowExecutionCommandAttributes{
			WorkflowId: contract.ApprovalWorkflowID(someUUID), WorkflowType: &commonpb.WorkflowType{Name: contract.WorkflowApproval},
			Memo: begun.GetMemo(), SearchAttributes: begun.GetSearchAttributes(),
		}},
	}}}, nil, nil, func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	known, err1 := a.Backend.Subject(t.Context(), someUUID)
	if described != 0 {
		t.Error("the server was asked")
	}
	read, err2 := a.Backend.Subject(t.Context(), someUUID)
	if err := errors.Join(err1, err2); err != nil || described != 1 || known.ConversationID != someID || !reflect.DeepEqual(known, read) {
		t.Errorf("%+v, read %+v, %v", known, read, err)
	}
}
