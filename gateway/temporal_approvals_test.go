package gateway_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	updatepb "go.temporal.io/api/update/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/types/known/timestamppb"

	"agent-stop-and-go/config/encryption"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/service/backend"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/approvers"
)

func approvalRecord(d contract.Decision, requestID string) contract.ApprovalResult {
	return contract.ApprovalResult{
		UUID: someUUID, ConversationID: someID, Tool: "t", Decision: d, RequestID: requestID, RequestedAt: epoch, DecidedAt: epoch,
	}
}

func TestADecisionIsASignalToTheApprovalOfAnOldWorker(t *testing.T) {
	var sent contract.DecideSignal
	a := onTemporal(t, &fakeClient{
		SignalFn: func(id, signal string, arg any) error {
			if id != "approval-"+someUUID || signal != "decide" {
				t.Errorf("%s to %s", signal, id)
			}
			sent = arg.(contract.DecideSignal)
			return nil
		},
		DescribeFn: func(string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
			return described(enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, nil), nil
		},
		GetFn: func(string) client.WorkflowRun {
			return fakeRun{encoded: encoded{value: approvalRecord(contract.Approved, sent.RequestID)}}
		},
		UpdateFn: func(o client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) { return settledBy(o, "done") },
	})
	a.want(200, a.do("POST", approvalPath, `{"approved":true}`, "Authorization: Bearer canary"))
	if token, err := a.keys.Open(someID, sent.Credential, epoch); err != nil || token.Bearer != "canary" {
		t.Errorf("credential: %v", err)
	}
}

func TestAnApprovalThatHasEnded(t *testing.T) {
	c := &fakeClient{
		SignalFn: func(string, string, any) error { return errMissing },
		QueryFn: func(*client.QueryWorkflowWithOptionsRequest) (*client.QueryWorkflowWithOptionsResponse, error) {
			return queried(viewOf(someID))
		},
	}
	a := onTemporal(t, c)
	c.DescribeFn = func(string) (*workflowservice.DescribeWorkflowExecutionResponse, error) { return nil, errMissing }
	a.wantError(404, "approval UUID: "+someUUID, a.do("POST", approvalPath, `{"approved":true}`))

	c.DescribeFn = func(string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
		return described(enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED, nil), nil
	}
	c.HistoryFn = func(string) []*historypb.HistoryEvent { return terminated("") }
	for want, run := range map[string]fakeRun{
		"expired":    {encoded: encoded{value: approvalRecord(contract.Expired, "")}},
		"terminated": {encoded: encoded{err: &temporal.WorkflowExecutionError{}}},
	} {
		c.GetFn = func(string) client.WorkflowRun { return run }
		reply := a.do("POST", approvalPath, `{"approved":true}`)
		a.wantError(409, "was already "+want, reply)
		if reply.text("decision", "decision") != want || reply.text("conversation", "id") != someID {
			t.Error(reply.raw)
		}
	}
}

// terminated is the history of an approval that an operator terminated.
func terminated(why string) []*historypb.HistoryEvent {
	input, err := converter.GetDefaultDataConverter().ToPayloads(contract.ApprovalInput{
		UUID: someUUID, ConversationID: someID, Tool: "resources_add", Arguments: contract.JSON{Raw: []byte(`{"name":"disk"}`)},
		Description: "**ADD Resource**", Reason: contract.ReasonDestructive, CreatedAt: epoch,
	})
	if err != nil {
		panic(err)
	}
	return []*historypb.HistoryEvent{
		{Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
			WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{Input: input},
		}},
		{
			EventType: enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED, EventTime: timestamppb.New(epoch.Add(time.Hour)),
			Attributes: &historypb.HistoryEvent_WorkflowExecutionTerminatedEventAttributes{
				WorkflowExecutionTerminatedEventAttributes: &historypb.WorkflowExecutionTerminatedEventAttributes{
					Reason: why, Identity: "temporal-cli:ops@desk",
				},
			},
		},
	}
}

// describedEnded is an ended approval without a memo.
func describedEnded(string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	return &workflowservice.DescribeWorkflowExecutionResponse{}, nil
}

func TestATerminatedApprovalIsReported(t *testing.T) {
	a := onTemporal(t, &fakeClient{
		QueryFn: func(r *client.QueryWorkflowWithOptionsRequest) (*client.QueryWorkflowWithOptionsResponse, error) {
			return queriedClosed(r, contract.ApprovalView{})
		},
		GetFn: func(string) client.WorkflowRun {
			return fakeRun{encoded: encoded{err: &temporal.WorkflowExecutionError{}}}
		},
		HistoryFn:  func(string) []*historypb.HistoryEvent { return terminated("wrong cluster") },
		DescribeFn: describedEnded,
	})
	reply := a.want(200, a.do("GET", approvalPath, ""))
	want := map[string]any{
		"uuid": someUUID, "conversation_id": someID, "tool": "resources_add", "decision": "terminated", "by": "temporal-cli:ops@desk",
		"reason": "wrong cluster", "requested_at": "2026-03-01T10:00:00Z", "decided_at": "2026-03-01T11:00:00Z",
	}
	if got := reply.at("decision"); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("decision %v", got)
	}
	if reply.text("status") != "terminated" || reply.text("approval", "tool_args", "name") != "disk" ||
		reply.text("approval", "description") != "**ADD Resource**" {
		t.Error(reply.raw)
	}
}

func TestAnEndedApprovalIsReadWithoutAWorker(t *testing.T) {
	closed := false
	a := onTemporal(t, &fakeClient{
		QueryFn: func(r *client.QueryWorkflowWithOptionsRequest) (*client.QueryWorkflowWithOptionsResponse, error) {
			if r.QueryRejectCondition == enumspb.QUERY_REJECT_CONDITION_NONE {
				return nil, serviceerror.NewFailedPrecondition("no poller")
			}
			return queriedClosed(r, nil)
		},
		GetFn: func(string) client.WorkflowRun {
			closed = true
			return fakeRun{encoded: encoded{value: approvalRecord(contract.Rejected, "")}}
		},
		HistoryFn:  func(string) []*historypb.HistoryEvent { return terminated("") },
		DescribeFn: describedEnded,
	})
	reply := a.want(200, a.do("GET", approvalPath, ""))
	if !closed || reply.text("status") != "rejected" || reply.text("approval", "tool_args", "name") != "disk" {
		t.Error(reply.raw)
	}
}

// read is the end of a workflow task.
var read = &historypb.HistoryEvent{EventType: enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED}

// typed is a signal that a client of Temporal sent.
func typed(name, identity string) *historypb.HistoryEvent {
	return &historypb.HistoryEvent{EventType: enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED, Attributes: &historypb.HistoryEvent_WorkflowExecutionSignaledEventAttributes{
		WorkflowExecutionSignaledEventAttributes: &historypb.WorkflowExecutionSignaledEventAttributes{SignalName: name, Identity: identity},
	}}
}

// updated is an update that a client of Temporal sent.
func updated(name, identity string) *historypb.HistoryEvent {
	return &historypb.HistoryEvent{EventType: enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED, Attributes: &historypb.HistoryEvent_WorkflowExecutionUpdateAcceptedEventAttributes{
		WorkflowExecutionUpdateAcceptedEventAttributes: &historypb.WorkflowExecutionUpdateAcceptedEventAttributes{
			AcceptedRequest: &updatepb.Request{Meta: &updatepb.Meta{Identity: identity}, Input: &updatepb.Input{Name: name}},
		},
	}}
}

func TestATypedDecisionIsShownWithWhatTheClientCallsItself(t *testing.T) {
	bySignal := approvalRecord(contract.Approved, "")
	bySignal.Via, bySignal.Identity = contract.ChannelSignal, contract.Identity{Channel: contract.ChannelSignal}
	byCaller := approvalRecord(contract.Approved, "")
	byCaller.Via, byCaller.Identity = contract.ChannelSignal, person("alice")
	byREST, expired := approvalRecord(contract.Approved, ""), approvalRecord(contract.Expired, "")
	byREST.Via = "rest"
	start := terminated("")[0]
	for name, tc := range map[string]struct {
		record contract.ApprovalResult
		events []*historypb.HistoryEvent
		want   string
	}{
		"a signal":                       {bySignal, []*historypb.HistoryEvent{start, read, typed("decide", "ops@desk"), read}, "ops@desk"},
		"after one that was ignored":     {bySignal, []*historypb.HistoryEvent{start, read, typed("decide", "bob@desk"), read, typed("decide", "ops@desk"), read}, "ops@desk"},
		"before the first task":          {bySignal, []*historypb.HistoryEvent{start, typed("decide", "ops@desk"), read}, "ops@desk"},
		"an update":                      {bySignal, []*historypb.HistoryEvent{start, read, read, updated("decide", "ops@desk")}, "ops@desk"},
		"another signal and update":      {bySignal, []*historypb.HistoryEvent{start, read, typed("nudge", "bob@desk"), typed("decide", "ops@desk"), read, updated("later", "bob@desk")}, "ops@desk"},
		"two of one":                     {bySignal, []*historypb.HistoryEvent{start, read, typed("decide", "ops@desk"), typed("decide", "ops@desk"), read}, "ops@desk"},
		"two at once":                    {bySignal, []*historypb.HistoryEvent{start, read, typed("decide", "bob@desk"), typed("decide", "ops@desk"), read}, ""},
		"a signal and an update at once": {bySignal, []*historypb.HistoryEvent{start, read, typed("decide", "bob@desk"), read, updated("decide", "ops@desk")}, ""},
		"a decision of a proven caller":  {byCaller, []*historypb.HistoryEvent{start, read, typed("decide", "gateway"), read}, ""},
		"a decision over REST":           {byREST, []*historypb.HistoryEvent{start, read, typed("decide", "gateway"), read}, ""},
		"no decision":                    {expired, []*historypb.HistoryEvent{start, read, typed("decide", "bob@desk"), read}, ""},
	} {
		a := onTemporal(t, &fakeClient{
			QueryFn: func(r *client.QueryWorkflowWithOptionsRequest) (*client.QueryWorkflowWithOptionsResponse, error) {
				return queriedClosed(r, contract.ApprovalView{})
			},
			GetFn:      func(string) client.WorkflowRun { return fakeRun{encoded: encoded{value: tc.record}} },
			DescribeFn: describedEnded,
			HistoryFn:  func(string) []*historypb.HistoryEvent { return tc.events },
		})
		reply := a.want(200, a.do("GET", approvalPath, ""))
		if got := reply.text("temporal_identity"); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
		if _, ok := reply.at("decision").(map[string]any)["temporal_identity"]; ok {
			t.Errorf("%s: it is in the record", name)
		}
	}
}

func TestADecisionIsAnUpdateOfTheApproval(t *testing.T) {
	var sent contract.DecideSignal
	a := onTemporal(t, &fakeClient{
		DescribeFn: func(string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
			return described(enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, nil), nil
		},
		DecideFn: func(id string, in contract.DecideSignal) (contract.ApprovalResult, error) {
			if id != "approval-"+someUUID {
				t.Errorf("update of %s", id)
			}
			sent = in
			return approvalRecord(contract.Approved, in.RequestID), nil
		},
		UpdateFn: func(o client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) { return settledBy(o, "done") },
	})
	a.want(200, a.do("POST", approvalPath, `{"approved":true,"by":"ops"}`, "Authorization: Bearer canary"))
	if !sent.Approved || sent.By != "ops" {
		t.Errorf("sent %+v", sent)
	}
	if token, err := a.keys.Open(someID, sent.Credential, epoch); err != nil || token.Bearer != "canary" {
		t.Errorf("credential: %v", err)
	}
}

func TestAnUpdateThatDoesNotDecide(t *testing.T) {
	refused := func(kind contract.Kind) error {
		return temporal.NewNonRetryableApplicationError("no", string(kind), nil)
	}
	late := client.NewWorkflowUpdateServiceTimeoutOrCanceledError(context.DeadlineExceeded)
	running, over := enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED
	for name, tt := range map[string]struct {
		err     error
		status  enumspb.WorkflowExecutionStatus
		kind    contract.Kind
		signals int
	}{
		"decided":                       {refused(contract.KindDecided), running, contract.KindDecided, 0},
		"not an answer":                 {refused(contract.KindInvalid), running, contract.KindInvalid, 0},
		"its schema is stored":          {refused(contract.KindBlob), running, "", 1},
		"closed":                        {errMissing, over, contract.KindDecided, 0},
		"no worker":                     {late, running, "", 1},
		"no worker in time, then taken": {late, over, "", 0},
		"a task that fails":             {serviceerror.NewWorkflowNotReady("failing"), running, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			signals := 0
			b := onTemporal(t, &fakeClient{
				DecideFn: func(string, contract.DecideSignal) (contract.ApprovalResult, error) {
					return contract.ApprovalResult{}, tt.err
				},
				DescribeFn: func(string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
					return described(tt.status, nil), nil
				},
				SignalFn: func(string, string, any) error { signals++; return nil },
			}).Backend
			record, err := b.Decide(t.Context(), someUUID, contract.DecideSignal{})
			if record != nil || kindOf(err) != tt.kind || signals != tt.signals {
				t.Errorf("record %+v, %v, %d signals", record, err, signals)
			}
		})
	}
}

// A worker that has a decision judged needs longer than one that is not there.
func TestADecisionThatIsBeingJudgedIsSentOnce(t *testing.T) {
	var ids []string
	b := onTemporal(t, &fakeClient{
		DecideIDFn: func(id string) { ids = append(ids, id) },
		DecideFn: func(string, contract.DecideSignal) (contract.ApprovalResult, error) {
			if len(ids) == 1 {
				return contract.ApprovalResult{}, client.NewWorkflowUpdateServiceTimeoutOrCanceledError(context.DeadlineExceeded)
			}
			return approvalRecord(contract.Approved, "r"), nil
		},
		DescribeFn: func(string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
			d := described(enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, nil)
			d.PendingWorkflowTask = &workflowpb.PendingWorkflowTaskInfo{State: enumspb.PENDING_WORKFLOW_TASK_STATE_STARTED}
			return d, nil
		},
		SignalFn: func(string, string, any) error { t.Error("a signal, too"); return nil },
	}).Backend
	record, err := b.Decide(t.Context(), someUUID, contract.DecideSignal{Approved: true})
	if err != nil || record == nil || len(ids) != 2 || ids[0] == "" || ids[0] != ids[1] {
		t.Errorf("%+v, %v, updates %q", record, err, ids)
	}
}

// Lists have rows whose memo is encrypted with a key that this process lacks.
func TestApproversThatCannotBeReadAllowNobody(t *testing.T) {
	sealed := &commonpb.Payload{Metadata: map[string][]byte{converter.MetadataEncoding: []byte(encryption.Encoding)}, Data: []byte("x")}
	c := &fakeClient{ListFn: func(*workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
		return &workflowservice.ListWorkflowExecutionsResponse{Executions: []*workflowpb.WorkflowExecutionInfo{{
			Execution: &commonpb.WorkflowExecution{WorkflowId: contract.ApprovalWorkflowID(someUUID)},
			Memo:      &commonpb.Memo{Fields: map[string]*commonpb.Payload{contract.MemoApprovers: sealed}},
		}}}, nil
	}}
	page, err := backend.New(backend.Options{Client: c, TaskQueue: "q", Now: time.Now}).Waiting(t.Context(), service.ListQuery{Limit: 10})
	if err != nil || len(page.Items) != 1 {
		t.Fatalf("got %+v, %v", page, err)
	}
	owner := contract.Identity{Subject: "alice", Issuer: "keys", Scopes: contract.Scopes()}
	if rules := page.Items[0].Approvers; approvers.May(owner, owner.Key(), rules) {
		t.Errorf("the rules %q allow the owner of the conversation to decide", rules)
	}
}
