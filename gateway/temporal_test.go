package gateway_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

var errMissing = serviceerror.NewNotFound("workflow not found")

func settledBy(o client.UpdateWorkflowOptions, response string) (client.WorkflowUpdateHandle, error) {
	in, _ := o.Args[0].(contract.AwaitInput)
	id, _ := contract.ConversationIDOf(o.WorkflowID)
	out, err := answering(response)(context.Background(), id, in.RequestIDs)
	return fakeHandle{encoded: encoded{value: out}}, err
}

func TestAConversationStartsAsAWorkflow(t *testing.T) {
	var options client.StartWorkflowOptions
	var input contract.ConversationInput
	a := onTemporal(t, &fakeClient{
		ExecuteFn: func(o client.StartWorkflowOptions, workflow any, args []any) (client.WorkflowRun, error) {
			if workflow != "Conversation" {
				t.Errorf("workflow %v", workflow)
			}
			options, input = o, args[0].(contract.ConversationInput)
			return fakeRun{}, nil
		},
		UpdateFn: func(o client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
			if o.UpdateName != "await_settled" || o.WaitForStage != client.WorkflowUpdateStageCompleted {
				t.Errorf("update %+v", o)
			}
			return settledBy(o, "hello")
		},
	})
	reply := a.want(201, a.do("POST", "/conversations", `{"message":"hi"}`, "X-Session-ID: s-1"))
	if reply.text("result", "response") != "hello" || options.ID != "conversation-"+input.ID {
		t.Errorf("%s: %+v", reply.raw, options)
	}
	if options.TaskQueue != "queue-1" || options.WorkflowExecutionTimeout != 0 || options.WorkflowRunTimeout != 0 ||
		options.WorkflowIDReusePolicy != enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE ||
		!options.WorkflowExecutionErrorWhenAlreadyStarted || options.StaticSummary != "helper · conversation" {
		t.Errorf("options %+v", options)
	}
	status, _ := options.TypedSearchAttributes.GetKeyword(temporal.NewSearchAttributeKeyKeyword(contract.AttrConversationStatus))
	session, _ := options.TypedSearchAttributes.GetKeyword(temporal.NewSearchAttributeKeyKeyword(contract.AttrSessionID))
	if options.Memo[contract.MemoTitle] != "hi" {
		t.Errorf("memo %v", options.Memo)
	}
	if status != "active" || session != "s-1" || options.TypedSearchAttributes.Size() != 5 || options.Memo[contract.MemoCreatedAt] == "" {
		t.Errorf("attributes %+v, memo %v", options.TypedSearchAttributes, options.Memo)
	}
}

func TestAFirstMessageIsAwaitedWithTheStart(t *testing.T) {
	var start fakeStart
	a := onTemporal(t, &fakeClient{
		UpdateWithStartFn: func(s fakeStart, o client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
			if start = s; o.WorkflowID != s.options.ID || o.UpdateName != "await_settled" || o.WaitForStage != client.WorkflowUpdateStageCompleted {
				t.Errorf("update %+v", o)
			}
			return settledBy(o, "hello")
		},
	})
	reply := a.want(201, a.do("POST", "/conversations", `{"message":"hi"}`))
	in := start.args[0].(contract.ConversationInput)
	if reply.text("result", "response") != "hello" || start.options.ID != "conversation-"+in.ID || in.First.Text.Inline != "hi" {
		t.Errorf("%s: %+v", reply.raw, start)
	}
	if start.options.WorkflowIDConflictPolicy != enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL || start.options.Memo[contract.MemoTitle] != "hi" {
		t.Errorf("options %+v", start.options)
	}
}

func TestAConversationThatExistsIsComparedByItsMemo(t *testing.T) {
	var memo map[string]any
	c := &fakeClient{}
	c.ExecuteFn = func(o client.StartWorkflowOptions, _ any, _ []any) (client.WorkflowRun, error) {
		if memo != nil {
			return nil, serviceerror.NewWorkflowExecutionAlreadyStarted("there", "", "")
		}
		memo = o.Memo
		return fakeRun{}, nil
	}
	c.DescribeFn = func(string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
		return described(enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, memo), nil
	}
	c.QueryFn = func(*client.QueryWorkflowWithOptionsRequest) (*client.QueryWorkflowWithOptionsResponse, error) {
		return queried(viewOf(someID))
	}
	a := onTemporal(t, c)
	a.want(201, a.do("POST", "/conversations", `{}`, "Idempotency-Key: k"))
	again := a.want(201, a.do("POST", "/conversations", `{}`, "Idempotency-Key: k"))
	if again.header.Get("Idempotency-Replayed") != "true" {
		t.Error("it is a replay")
	}
	a.wantError(422, "different request", a.do("POST", "/conversations", `{"message":"x"}`, "Idempotency-Key: k"))
	there, err := a.Backend.Start(t.Context(), service.StartInput{Conversation: contract.ConversationInput{ID: someID}})
	if err != nil || !there.Existed || there.CreatedAt.Format(time.RFC3339Nano) != memo[contract.MemoCreatedAt] {
		t.Errorf("there since %v, %v; the memo says %v", there.CreatedAt, err, memo)
	}
}

func TestASignalToAnEndedConversation(t *testing.T) {
	c := &fakeClient{SignalFn: func(string, string, any) error { return errMissing }}
	a := onTemporal(t, c)
	c.DescribeFn = func(string) (*workflowservice.DescribeWorkflowExecutionResponse, error) { return nil, errMissing }
	c.QueryFn = func(*client.QueryWorkflowWithOptionsRequest) (*client.QueryWorkflowWithOptionsResponse, error) {
		return nil, errMissing
	}
	a.wantError(404, "conversation not found: "+someID, a.do("POST", messages, `{"message":"x"}`))

	c.DescribeFn = func(string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
		return described(enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED, nil), nil
	}
	c.QueryFn = func(r *client.QueryWorkflowWithOptionsRequest) (*client.QueryWorkflowWithOptionsResponse, error) {
		view := viewOf(someID) // its last state before an operator terminated it
		view.Running, view.Queued = true, 3
		return queriedClosed(r, view)
	}
	reply := a.do("POST", messages, `{"message":"x"}`)
	a.wantError(409, "completed", reply)
	if reply.text("conversation", "status") != "completed" || reply.at("conversation", "running") != nil {
		t.Error(reply.raw)
	}
}

func TestASignalThatMeetsContinueAsNewIsSentAgain(t *testing.T) {
	sent := 0
	a := onTemporal(t, &fakeClient{
		SignalFn: func(string, string, any) error {
			if sent++; sent == 1 {
				return errMissing
			}
			return nil
		},
		DescribeFn: func(string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
			return described(enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, nil), nil
		},
		QueryFn: func(*client.QueryWorkflowWithOptionsRequest) (*client.QueryWorkflowWithOptionsResponse, error) {
			return queried(viewOf(someID))
		},
		UpdateFn: func(o client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) { return settledBy(o, "ok") },
	})
	a.want(200, a.do("POST", messages, `{"message":"x"}`))
}

func TestAwaitingIsRepeatedUntilThereIsAnAnswer(t *testing.T) {
	passing := []error{
		serviceerror.NewWorkflowNotReady("not ready"),
		serviceerror.NewResourceExhausted(enumspb.RESOURCE_EXHAUSTED_CAUSE_CONCURRENT_LIMIT, "too many"),
		client.NewWorkflowUpdateServiceTimeoutOrCanceledError(context.DeadlineExceeded),
		temporal.NewApplicationError("the run ended", "AcceptedUpdateCompletedWorkflow"),
		serviceerror.NewUnavailable("restarting"),
	}
	asked := 0
	a := onTemporal(t, &fakeClient{
		SignalFn: func(string, string, any) error { return nil },
		QueryFn: func(*client.QueryWorkflowWithOptionsRequest) (*client.QueryWorkflowWithOptionsResponse, error) {
			return queried(viewOf(someID)) // the next run
		},
		UpdateFn: func(o client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
			if asked++; asked > len(passing) {
				return settledBy(o, "ok")
			}
			return fakeHandle{encoded: encoded{err: passing[asked-1]}}, nil
		},
	})
	a.want(200, a.do("POST", messages, `{"message":"x"}`))
	if asked != len(passing)+1 {
		t.Errorf("asked %d times", asked)
	}
}

func TestTheAnswerOfAConversationThatHasEnded(t *testing.T) {
	for want, known := range map[int]*contract.Request{
		200: {Settled: true, Result: &contract.Result{Response: contract.Inline("last words")}},
		409: nil,
	} {
		a := onTemporal(t, &fakeClient{
			SignalFn: func(string, string, any) error { return nil },
			UpdateFn: func(client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) { return nil, errMissing },
			QueryFn: func(r *client.QueryWorkflowWithOptionsRequest) (*client.QueryWorkflowWithOptionsResponse, error) {
				view := viewOf(someID)
				if q, _ := r.Args[0].(contract.ConversationQuery); known != nil {
					request := *known
					request.ID, view.Request = q.RequestID, &request
				}
				return queriedClosed(r, view)
			},
		})
		reply := a.want(want, a.do("POST", messages, `{"message":"x"}`))
		if reply.text("conversation", "status") != "completed" {
			t.Error(reply.raw)
		}
	}
}

func TestErrorsOfTemporal(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
	}{
		{serviceerror.NewUnavailable("down"), 503},
		{serviceerror.NewDeadlineExceeded("no poller"), 503},
		{context.DeadlineExceeded, 503},
		{serviceerror.NewFailedPrecondition("no poller"), 503},
		{serviceerror.NewResourceExhausted(enumspb.RESOURCE_EXHAUSTED_CAUSE_RPS_LIMIT, "slow down"), 503},
		{serviceerror.NewQueryFailed("bug"), 500},
		{errMissing, 404},
	} {
		a := onTemporal(t, &fakeClient{
			QueryFn: func(*client.QueryWorkflowWithOptionsRequest) (*client.QueryWorkflowWithOptionsResponse, error) {
				return nil, c.err
			},
			DescribeFn: healthy,
		})
		reply := a.do("GET", "/conversations/"+someID, "")
		a.wantError(c.status, "", reply)
		if c.status != 404 && strings.Contains(reply.raw, c.err.Error()) {
			t.Errorf("%v is in the reply: %s", c.err, reply.raw)
		}
	}
}

func TestVisibilityQueries(t *testing.T) {
	const all = "WorkflowType = 'Conversation' AND ExecutionStatus != 'ContinuedAsNew'"
	var queries []string
	a := onTemporal(t, &fakeClient{
		ListFn: func(r *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
			queries = append(queries, ours(t, r.GetQuery()))
			if r.GetNamespace() != "space-1" || r.GetPageSize() != 50 || strings.Contains(r.GetQuery(), "ORDER BY") {
				t.Errorf("%+v", r)
			}
			return &workflowservice.ListWorkflowExecutionsResponse{}, nil
		},
		CountFn: func(query string) (int64, error) {
			return map[string]int64{
				all: 10, all + " AND ExecutionStatus != 'Running'": 3,
				all + " AND ExecutionStatus = 'Running' AND ConversationStatus = 'waiting_approval'": 2,
			}[ours(t, query)], nil
		},
	})
	reply := a.want(200, a.do("GET", "/conversations", ""))
	want := map[string]any{"total": 10.0, "active": 5.0, "waiting_approval": 2.0, "completed": 3.0}
	if got := fmt.Sprint(reply.at("summary")); got != fmt.Sprint(want) {
		t.Errorf("summary %s", got)
	}
	a.do("GET", "/conversations?status=waiting_approval", "")
	a.do("GET", "/approvals", "")
	if !slices.Equal(queries, []string{
		all, all + " AND ExecutionStatus = 'Running' AND ConversationStatus = 'waiting_approval'",
		"WorkflowType = 'Approval' AND ExecutionStatus = 'Running'",
	}) {
		t.Errorf("%q", queries)
	}
}

// ours removes the task queue from a query, and fails if it is missing.
func ours(t *testing.T, query string) string {
	t.Helper()
	rest, ok := strings.CutSuffix(query, " AND TaskQueue = 'queue-1'")
	if !ok {
		t.Errorf("%q shows other agents' work", query)
	}
	return rest
}

func TestListedConversations(t *testing.T) {
	a := onTemporal(t, &fakeClient{
		CountFn: func(string) (int64, error) { return 0, nil },
		ListFn: func(r *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
			if len(r.GetNextPageToken()) > 0 {
				return nil, serviceerror.NewInvalidArgument("page token")
			}
			return listed(), nil
		},
	})
	reply := a.want(200, a.do("GET", "/conversations", ""))
	const want = `{"conversations":[` +
		`{"id":"` + otherID + `","short_id":"#0b8c","status":"completed","created_at":"2026-03-01T11:00:00Z","updated_at":"2026-03-01T12:00:00Z"},` +
		`{"id":"` + someID + `","short_id":"#7f9c","session_id":"s-1","agent_name":"helper","title":"add a disk","status":"waiting_approval",` +
		`"created_at":"2026-03-01T10:00:00Z","updated_at":"2026-03-01T10:01:00Z"}]`
	if !strings.HasPrefix(reply.raw, want) {
		t.Error(reply.raw)
	}
	a.wantError(400, "cursor", a.do("GET", "/conversations?cursor="+reply.text("next_cursor"), ""))
}

func TestTheCatalogueIsAWorkflowsResult(t *testing.T) {
	run := fakeRun{encoded: encoded{value: map[string]any{"body": map[string]any{
		"tools": []any{}, "servers": []any{}, "model": map[string]any{"name": "demo:rules"},
	}}}}
	c := &fakeClient{ExecuteFn: func(o client.StartWorkflowOptions, workflow any, _ []any) (client.WorkflowRun, error) {
		if workflow != "Catalogue" || !strings.HasPrefix(o.ID, "catalogue-") || !strings.HasSuffix(o.ID, "-queue-1") ||
			o.WorkflowIDConflictPolicy != enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING || o.WorkflowRunTimeout == 0 {
			t.Errorf("%v with %+v", workflow, o)
		}
		return run, nil
	}}
	a := onTemporal(t, c)
	run.err = context.DeadlineExceeded
	a.wantError(503, "no worker is answering on task queue queue-1", a.do("GET", "/tools", ""))
	run.err = &temporal.WorkflowExecutionError{}
	a.wantError(503, "could not list its tools", a.do("GET", "/tools", ""))
	run.err = nil
	if reply := a.want(200, a.do("GET", "/tools", "")); reply.text("model", "name") != "demo:rules" {
		t.Error(reply.raw)
	}
}

func TestErrorsKeepTheirCauseForTheLog(t *testing.T) {
	err := service.Errorf(contract.KindInvalid, "text: %w", errMissing)
	if !strings.Contains(err.Error(), "workflow not found") || err.Unwrap() != error(errMissing) {
		t.Errorf("%v", err)
	}
}

// healthy describes a workflow whose tasks do not fail.
func healthy(string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	return described(enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, nil), nil
}

func TestAQueryCancelledByTheServerIsUnavailable(t *testing.T) {
	a := onTemporal(t, &fakeClient{QueryFn: func(*client.QueryWorkflowWithOptionsRequest) (*client.QueryWorkflowWithOptionsResponse, error) {
		return nil, serviceerror.NewCanceled("context canceled")
	}, DescribeFn: healthy})
	a.wantError(503, "not available", a.do("GET", "/conversations/"+someID, ""))
	if r := a.rpc("tasks/get", object{"id": someID}); code(r) != -32000.0 || !strings.Contains(r.raw, `"retryDelay":"1s"`) {
		t.Error(r.raw)
	}
}
