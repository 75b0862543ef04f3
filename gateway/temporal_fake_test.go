package gateway_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	querypb "go.temporal.io/api/query/v1"
	"go.temporal.io/api/serviceerror"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/types/known/timestamppb"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/service/backend"
	"agent-stop-and-go/workflows/contract"
)

// fakeClient is a Temporal client. A call without a function panics.
type fakeClient struct {
	client.Client
	ExecuteFn func(o client.StartWorkflowOptions, workflow any, args []any) (client.WorkflowRun, error)
	GetFn     func(workflowID string) client.WorkflowRun
	SignalFn  func(workflowID, signal string, arg any) error
	UpdateFn  func(o client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error)
	// DecideFn handles the updates of approvals. Without it they are refused as by a worker that
	// does not know them.
	DecideFn   func(workflowID string, in contract.DecideSignal) (contract.ApprovalResult, error)
	DecideIDFn func(updateID string) // before DecideFn, if it is set
	QueryFn    func(r *client.QueryWorkflowWithOptionsRequest) (*client.QueryWorkflowWithOptionsResponse, error)
	DescribeFn func(workflowID string) (*workflowservice.DescribeWorkflowExecutionResponse, error)
	HistoryFn  func(workflowID string) []*historypb.HistoryEvent
	ListFn     func(r *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error)
	CountFn    func(query string) (int64, error)
	HealthFn   func() error
	PollersFn  func(queue string) ([]*taskqueuepb.PollerInfo, error)
	Busy       time.Duration // until a worker answers updates and queries

	UpdateWithStartFn func(start fakeStart, update client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error)
	SignalWithStartFn func(workflowID, signal string, arg any, o client.StartWorkflowOptions, workflow any, args []any) error
}

func (f *fakeClient) ExecuteWorkflow(_ context.Context, o client.StartWorkflowOptions, w any, args ...any) (client.WorkflowRun, error) {
	return f.ExecuteFn(o, w, args)
}

// fakeStart is the start of a workflow that is part of an update.
type fakeStart struct {
	client.WithStartWorkflowOperation
	options client.StartWorkflowOptions
	args    []any
}

func (f *fakeClient) NewWithStartWorkflowOperation(o client.StartWorkflowOptions, _ any, args ...any) client.WithStartWorkflowOperation {
	return fakeStart{options: o, args: args}
}

// UpdateWithStartWorkflow fails by default, like a server that does not know it.
func (f *fakeClient) UpdateWithStartWorkflow(_ context.Context, o client.UpdateWithStartWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	if f.UpdateWithStartFn == nil {
		return nil, serviceerror.NewUnimplemented("unknown method ExecuteMultiOperation")
	}
	return f.UpdateWithStartFn(o.StartWorkflowOperation.(fakeStart), o.UpdateOptions)
}

// DescribeTaskQueue reports a worker by default.
func (f *fakeClient) DescribeTaskQueue(_ context.Context, queue string, _ enumspb.TaskQueueType) (*workflowservice.DescribeTaskQueueResponse, error) {
	if f.PollersFn == nil {
		return &workflowservice.DescribeTaskQueueResponse{Pollers: []*taskqueuepb.PollerInfo{{LastAccessTime: timestamppb.Now()}}}, nil
	}
	pollers, err := f.PollersFn(queue)
	return &workflowservice.DescribeTaskQueueResponse{Pollers: pollers}, err
}

func (f *fakeClient) GetWorkflow(_ context.Context, workflowID, _ string) client.WorkflowRun {
	return f.GetFn(workflowID)
}

func (f *fakeClient) SignalWorkflow(_ context.Context, workflowID, _, signal string, arg any) error {
	return f.SignalFn(workflowID, signal, arg)
}

func (f *fakeClient) SignalWithStartWorkflow(_ context.Context, workflowID, signal string, arg any, o client.StartWorkflowOptions, w any, args ...any) (client.WorkflowRun, error) {
	return fakeRun{}, f.SignalWithStartFn(workflowID, signal, arg, o, w, args)
}

func (f *fakeClient) awaitWorker(ctx context.Context) error {
	if f.Busy == 0 {
		return nil
	}
	select {
	case <-time.After(f.Busy):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f *fakeClient) UpdateWorkflow(ctx context.Context, o client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	if err := f.awaitWorker(ctx); err != nil {
		return nil, client.NewWorkflowUpdateServiceTimeoutOrCanceledError(err)
	}
	if o.UpdateName != contract.UpdateDecide {
		return f.UpdateFn(o)
	}
	if f.DecideFn == nil {
		return nil, temporal.NewApplicationError("unknown update decide. KnownUpdates=[]", "")
	}
	if f.DecideIDFn != nil {
		f.DecideIDFn(o.UpdateID)
	}
	record, err := f.DecideFn(o.WorkflowID, o.Args[0].(contract.DecideSignal))
	if err != nil {
		return nil, err
	}
	return fakeHandle{encoded: encoded{value: record}}, nil
}

func (f *fakeClient) QueryWorkflowWithOptions(ctx context.Context, r *client.QueryWorkflowWithOptionsRequest) (*client.QueryWorkflowWithOptionsResponse, error) {
	if err := f.awaitWorker(ctx); err != nil {
		return nil, err
	}
	return f.QueryFn(r)
}

func (f *fakeClient) DescribeWorkflowExecution(_ context.Context, workflowID, _ string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	return f.DescribeFn(workflowID)
}

func (f *fakeClient) GetWorkflowHistory(_ context.Context, workflowID, _ string, _ bool, filter enumspb.HistoryEventFilterType) client.HistoryEventIterator {
	all := f.HistoryFn(workflowID)
	if filter == enumspb.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT {
		all = all[len(all)-1:]
	}
	return &fakeHistory{all, len(all) == 0}
}

type fakeHistory struct {
	events  []*historypb.HistoryEvent
	missing bool // Next fails
}

func (h *fakeHistory) HasNext() bool { return h.missing || len(h.events) > 0 }

func (h *fakeHistory) Next() (*historypb.HistoryEvent, error) {
	if len(h.events) == 0 {
		return nil, errMissing
	}
	e := h.events[0]
	h.events = h.events[1:]
	return e, nil
}

func (f *fakeClient) ListWorkflow(_ context.Context, r *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	return f.ListFn(r)
}

func (f *fakeClient) CountWorkflow(_ context.Context, r *workflowservice.CountWorkflowExecutionsRequest) (*workflowservice.CountWorkflowExecutionsResponse, error) {
	n, err := f.CountFn(r.GetQuery())
	return &workflowservice.CountWorkflowExecutionsResponse{Count: n}, err
}

func (f *fakeClient) CheckHealth(context.Context, *client.CheckHealthRequest) (*client.CheckHealthResponse, error) {
	return &client.CheckHealthResponse{}, f.HealthFn()
}

// encoded is a workflow's result.
type encoded struct {
	value any
	err   error
}

func (e encoded) HasValue() bool { return e.value != nil }

func (e encoded) Get(out any) error {
	if e.err != nil {
		return e.err
	}
	data, err := json.Marshal(e.value)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, out)
}

type fakeRun struct {
	client.WorkflowRun
	encoded
}

func (r fakeRun) Get(_ context.Context, out any) error { return r.encoded.Get(out) }

type fakeHandle struct {
	client.WorkflowUpdateHandle
	encoded
}

func (h fakeHandle) Get(_ context.Context, out any) error { return h.encoded.Get(out) }

// queried answers a query of a running workflow.
func queried(v any) (*client.QueryWorkflowWithOptionsResponse, error) {
	return &client.QueryWorkflowWithOptionsResponse{QueryResult: encoded{value: v}}, nil
}

// queriedClosed answers a query of a workflow that has ended.
func queriedClosed(r *client.QueryWorkflowWithOptionsRequest, v any) (*client.QueryWorkflowWithOptionsResponse, error) {
	if r.QueryRejectCondition == enumspb.QUERY_REJECT_CONDITION_NOT_OPEN {
		return &client.QueryWorkflowWithOptionsResponse{QueryRejected: &querypb.QueryRejected{}}, nil
	}
	return queried(v)
}

func described(status enumspb.WorkflowExecutionStatus, memo map[string]any) *workflowservice.DescribeWorkflowExecutionResponse {
	return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{
		Status: status, Memo: &commonpb.Memo{Fields: payloads(memo)},
		SearchAttributes: &commonpb.SearchAttributes{IndexedFields: payloads(map[string]any{contract.AttrConversationID: someID})},
	}}
}

func payloads(values map[string]any) map[string]*commonpb.Payload {
	out := map[string]*commonpb.Payload{}
	for k, v := range values {
		p, err := converter.GetDefaultDataConverter().ToPayload(v)
		if err != nil {
			panic(err)
		}
		out[k] = p
	}
	return out
}

// onTemporal returns a gateway on a fake client.
func onTemporal(t *testing.T, c *fakeClient, change ...func(*gateway.Deps)) *api {
	return newAPI(t, nil, append(change, onClient(c, func(o *backend.Options) {
		o.TaskQueue, o.Namespace, o.Address = "queue-1", "space-1", "t.example.com:7233"
	}))...)
}

// onClient has a gateway use a Temporal client. It must be the last change.
func onClient(c client.Client, change ...func(*backend.Options)) func(*gateway.Deps) {
	return func(d *gateway.Deps) {
		o := backend.Options{Client: c, Agent: d.Agent, Blobs: d.Blobs, Keyring: d.Keyring, Now: d.Now}
		for _, f := range change {
			f(&o)
		}
		d.Backend = backend.New(o)
	}
}

// listed is a page in the order of visibility: running workflows before ended ones.
func listed() *workflowservice.ListWorkflowExecutionsResponse {
	execution := func(id string, status enumspb.WorkflowExecutionStatus, created time.Time, attributes map[string]any) *workflowpb.WorkflowExecutionInfo {
		return &workflowpb.WorkflowExecutionInfo{
			Execution: &commonpb.WorkflowExecution{WorkflowId: id}, Status: status, StartTime: timestamppb.New(epoch),
			Memo:             &commonpb.Memo{Fields: payloads(map[string]any{contract.MemoCreatedAt: created.Format(time.RFC3339Nano)})},
			SearchAttributes: &commonpb.SearchAttributes{IndexedFields: payloads(attributes)},
		}
	}
	waits := execution("conversation-"+someID, enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, epoch, map[string]any{
		contract.AttrConversationStatus: "waiting_approval", contract.AttrSessionID: "s-1", contract.AttrAgentName: "helper",
	})
	waits.Memo.Fields = payloads(map[string]any{
		contract.MemoCreatedAt: epoch.Format(time.RFC3339Nano), contract.MemoTitle: "add a disk",
		contract.MemoUpdatedAt: epoch.Add(time.Minute).Format(time.RFC3339Nano),
	})
	gone := execution("conversation-"+otherID, enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED, epoch.Add(time.Hour), map[string]any{
		contract.AttrConversationStatus: "active",
	})
	gone.CloseTime = timestamppb.New(epoch.Add(2 * time.Hour))
	return &workflowservice.ListWorkflowExecutionsResponse{
		NextPageToken: []byte("next"),
		Executions: []*workflowpb.WorkflowExecutionInfo{
			waits, gone,
			execution("conversation-typed-by-hand", enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, epoch, nil),
		},
	}
}
