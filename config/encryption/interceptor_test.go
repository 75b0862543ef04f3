package encryption_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	commandpb "go.temporal.io/api/command/v1"
	commonpb "go.temporal.io/api/common/v1"
	failurepb "go.temporal.io/api/failure/v1"
	historypb "go.temporal.io/api/history/v1"
	querypb "go.temporal.io/api/query/v1"
	sdkpb "go.temporal.io/api/sdk/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"agent-stop-and-go/config/encryption"
	"agent-stop-and-go/workflows/contract"
)

// wire is a server that records requests and answers with reply.
type wire struct {
	sent    []proto.Message
	methods []string
	reply   proto.Message
	err     error
	log     bytes.Buffer
}

// call makes a call over a connection with the keys.
func (w *wire) call(t *testing.T, c *encryption.Codec, method string, req, into proto.Message) error {
	t.Helper()
	return c.Interceptor(slog.New(slog.NewTextHandler(&w.log, nil)))(t.Context(), "/temporal.api.workflowservice.v1.WorkflowService/"+method, req, into, nil,
		func(_ context.Context, method string, req, reply any, _ *grpc.ClientConn, opts ...grpc.CallOption) error {
			w.sent, w.methods = append(w.sent, req.(proto.Message)), append(w.methods, method)
			if len(w.sent) == 1 && w.reply != nil {
				receive(t, w.reply, reply, opts)
			}
			return w.err
		})
}

// receive decodes a message as the connection of a call with these options does.
func receive(t *testing.T, message proto.Message, into any, opts []grpc.CallOption) {
	t.Helper()
	raw, err := proto.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	codec := encoding.GetCodecV2("proto")
	for _, o := range opts {
		if forced, ok := o.(grpc.ForceCodecV2CallOption); ok {
			codec = forced.CodecV2
		}
	}
	if err := codec.Unmarshal(mem.BufferSlice{mem.SliceBuffer(raw)}, into); err != nil {
		t.Fatal(err)
	}
}

func payloads(p ...*commonpb.Payload) *commonpb.Payloads { return &commonpb.Payloads{Payloads: p} }

func fields(p *commonpb.Payload) map[string]*commonpb.Payload {
	return map[string]*commonpb.Payload{"x": p}
}

func TestOnlySearchAttributesAreSentInClear(t *testing.T) {
	start := func() *workflowservice.StartWorkflowExecutionRequest {
		return &workflowservice.StartWorkflowExecutionRequest{
			Namespace: "n", WorkflowId: "id", Input: payloads(payload(t, text)), Memo: &commonpb.Memo{Fields: fields(payload(t, text))},
			Header: &commonpb.Header{Fields: fields(payload(t, text))}, UserMetadata: &sdkpb.UserMetadata{Summary: payload(t, text), Details: payload(t, text)},
			SearchAttributes: &commonpb.SearchAttributes{IndexedFields: fields(payload(t, "status"))},
		}
	}
	var w wire
	req := start()
	for range 2 { // the SDK sends the same request again
		if err := w.call(t, codec(t, "a"), "StartWorkflowExecution", req, &workflowservice.StartWorkflowExecutionResponse{}); err != nil {
			t.Fatal(err)
		}
	}
	if !proto.Equal(req, start()) {
		t.Error("the request of the SDK was changed")
	}
	for _, sent := range w.sent {
		raw, err := proto.Marshal(sent)
		if err != nil || bytes.Contains(raw, []byte(text)) || bytes.Contains(raw, []byte("json/plain")) != true {
			t.Errorf("sent %v, %v", sent, err)
		}
		got := sent.(*workflowservice.StartWorkflowExecutionRequest)
		if string(got.GetSearchAttributes().GetIndexedFields()["x"].GetData()) != `"status"` || got.GetWorkflowId() != "id" {
			t.Errorf("sent %v", got)
		}
	}
}

func failure() *failurepb.Failure {
	return &failurepb.Failure{
		Message: text, StackTrace: text, Cause: &failurepb.Failure{Message: text},
		FailureInfo: &failurepb.Failure_ApplicationFailureInfo{ApplicationFailureInfo: &failurepb.ApplicationFailureInfo{Type: "kind"}},
	}
}

// A whole round: what a worker sends, and what comes back of it in a history.
func TestFailuresAreEncryptedAndReadAgain(t *testing.T) {
	var w wire
	req := &workflowservice.RespondWorkflowTaskCompletedRequest{Commands: []*commandpb.Command{{
		UserMetadata: &sdkpb.UserMetadata{Summary: payload(t, text)},
		Attributes: &commandpb.Command_FailWorkflowExecutionCommandAttributes{
			FailWorkflowExecutionCommandAttributes: &commandpb.FailWorkflowExecutionCommandAttributes{Failure: failure()},
		},
	}}}
	if err := w.call(t, codec(t, "a"), "RespondWorkflowTaskCompleted", req, &workflowservice.RespondWorkflowTaskCompletedResponse{}); err != nil {
		t.Fatal(err)
	}
	sent := w.sent[0].(*workflowservice.RespondWorkflowTaskCompletedRequest)
	if raw, _ := proto.Marshal(sent); bytes.Contains(raw, []byte(text)) || !bytes.Contains(raw, []byte("kind")) {
		t.Errorf("sent %v", sent)
	}
	stored := sent.GetCommands()[0].GetFailWorkflowExecutionCommandAttributes().GetFailure()
	back := wire{reply: &workflowservice.GetWorkflowExecutionHistoryResponse{History: &historypb.History{Events: []*historypb.HistoryEvent{{
		Attributes: &historypb.HistoryEvent_WorkflowExecutionFailedEventAttributes{
			WorkflowExecutionFailedEventAttributes: &historypb.WorkflowExecutionFailedEventAttributes{Failure: stored},
		},
	}}}}}
	var got workflowservice.GetWorkflowExecutionHistoryResponse
	if err := back.call(t, codec(t, "b", "a"), "GetWorkflowExecutionHistory", &workflowservice.GetWorkflowExecutionHistoryRequest{}, &got); err != nil {
		t.Fatal(err)
	}
	if f := got.GetHistory().GetEvents()[0].GetWorkflowExecutionFailedEventAttributes().GetFailure(); !proto.Equal(f, failure()) {
		t.Errorf("read as %v", f)
	}
}

func task(t *testing.T, p *commonpb.Payload) *workflowservice.PollWorkflowTaskQueueResponse {
	t.Helper()
	return &workflowservice.PollWorkflowTaskQueueResponse{TaskToken: []byte("token"), History: &historypb.History{Events: []*historypb.HistoryEvent{{
		Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
			WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{Input: payloads(p)},
		},
	}}}}
}

// The SDK would fail a workflow whose input it cannot read. This also protects conversations from
// an agent whose file has lost encryption.keys.
func TestTasksWithoutTheirKeyAreGivenBack(t *testing.T) {
	secret := encoded(t, codec(t, "b"), payload(t, text))
	query := task(t, secret)
	query.Query = &querypb.WorkflowQuery{QueryType: "conversation"}
	for name, tt := range map[string]struct {
		reply, into proto.Message
		req         proto.Message
		want        string
	}{
		"PollWorkflowTaskQueue":        {task(t, secret), &workflowservice.PollWorkflowTaskQueueResponse{}, &workflowservice.PollWorkflowTaskQueueRequest{Namespace: "n"}, "RespondWorkflowTaskFailed"},
		"PollWorkflowTaskQueue/query":  {query, &workflowservice.PollWorkflowTaskQueueResponse{}, &workflowservice.PollWorkflowTaskQueueRequest{Namespace: "n"}, "RespondQueryTaskCompleted"},
		"RespondWorkflowTaskCompleted": {&workflowservice.RespondWorkflowTaskCompletedResponse{WorkflowTask: task(t, secret)}, &workflowservice.RespondWorkflowTaskCompletedResponse{}, &workflowservice.RespondWorkflowTaskCompletedRequest{Namespace: "n"}, "RespondWorkflowTaskFailed"},
		"PollActivityTaskQueue": {&workflowservice.PollActivityTaskQueueResponse{TaskToken: []byte("token"), Input: payloads(secret)},
			&workflowservice.PollActivityTaskQueueResponse{}, &workflowservice.PollActivityTaskQueueRequest{Namespace: "n"}, "RespondActivityTaskFailed"},
	} {
		for _, c := range []*encryption.Codec{codec(t, "a"), nil} {
			w := wire{reply: tt.reply}
			method, _, _ := strings.Cut(name, "/")
			proto.Reset(tt.into)
			if err := w.call(t, c, method, tt.req, tt.into); err != nil || proto.Size(tt.into) > 0 {
				t.Errorf("%s: the worker gets %v, %v", name, tt.into, err)
			}
			if len(w.sent) != 2 || w.methods[1] != "/temporal.api.workflowservice.v1.WorkflowService/"+tt.want {
				t.Fatalf("%s: calls %v", name, w.methods)
			}
			if said := w.sent[1].(interface{ GetTaskToken() []byte }); string(said.GetTaskToken()) != "token" || !strings.Contains(w.sent[1].(interface{ String() string }).String(), "encryption.keys") ||
				w.sent[1].(interface{ GetNamespace() string }).GetNamespace() != "n" {
				t.Errorf("%s: given back with %v", name, said)
			}
			if r, ok := w.sent[1].(*workflowservice.RespondActivityTaskFailedRequest); ok && r.GetFailure().GetApplicationFailureInfo().GetType() != string(contract.KindToolUnavailable) {
				t.Errorf("an attempt that has not begun fails with %v", r.GetFailure())
			}
			if !strings.Contains(w.log.String(), `encrypted with the key \"b\"`) {
				t.Errorf("logged %s", &w.log)
			}
		}
	}
}

// The next attempt of a destructive message may send it only if every attempt before says that it
// sent nothing, and a person may be told so only then.
func TestAnAttemptIsGivenBackAsNotRunOnlyIfNoneBeforeMayHaveRun(t *testing.T) {
	said := func(attempt int32) *commonpb.Payloads { return payloads(payload(t, attempt)) }
	for name, tt := range map[string]struct {
		attempt int32
		details *commonpb.Payloads
		back    bool
	}{
		"the first":                          {1, nil, true},
		"the one before sent nothing":        {2, said(1), true},
		"both before sent nothing":           {3, said(2), true},
		"the one before died":                {2, nil, false},
		"the second died":                    {3, said(1), false},
		"what the one before said is sealed": {2, payloads(encoded(t, codec(t, "b"), payload(t, 1))), false},
		"the one before said something else": {2, payloads(payload(t, "1")), false},
	} {
		t.Run(name, func(t *testing.T) {
			w := wire{reply: &workflowservice.PollActivityTaskQueueResponse{
				TaskToken: []byte("token"), Attempt: tt.attempt, HeartbeatDetails: tt.details, Input: payloads(encoded(t, codec(t, "b"), payload(t, text))),
			}}
			var got workflowservice.PollActivityTaskQueueResponse
			if err := w.call(t, codec(t, "a"), "PollActivityTaskQueue", &workflowservice.PollActivityTaskQueueRequest{Namespace: "n"}, &got); err != nil || proto.Size(&got) > 0 {
				t.Errorf("the worker gets %v, %v", &got, err)
			}
			if !strings.Contains(w.log.String(), `encrypted with the key \"b\"`) {
				t.Errorf("logged %s", &w.log)
			}
			if !tt.back {
				if len(w.sent) != 1 {
					t.Errorf("an attempt before which another was lost is reported as %v", w.sent[1:])
				}
				return
			}
			r := w.sent[1].(*workflowservice.RespondActivityTaskFailedRequest)
			if r.GetFailure().GetApplicationFailureInfo().GetType() != string(contract.KindToolUnavailable) || !proto.Equal(r.GetLastHeartbeatDetails(), said(tt.attempt)) {
				t.Errorf("given back with %v", r)
			}
		})
	}
}

func TestAHistoryWithoutItsKeyIsAnError(t *testing.T) {
	w := wire{reply: &workflowservice.GetWorkflowExecutionHistoryResponse{History: task(t, encoded(t, codec(t, "b"), payload(t, text))).GetHistory()}}
	err := w.call(t, codec(t, "a"), "GetWorkflowExecutionHistory", &workflowservice.GetWorkflowExecutionHistoryRequest{}, &workflowservice.GetWorkflowExecutionHistoryResponse{})
	if status.Code(err) != codes.FailedPrecondition || !strings.Contains(err.Error(), "encryption.keys") {
		t.Errorf("got %v", err)
	}
}

func TestAMemoWithoutItsKeyHidesNoOther(t *testing.T) {
	row := func(key string) *workflowpb.WorkflowExecutionInfo {
		return &workflowpb.WorkflowExecutionInfo{Memo: &commonpb.Memo{Fields: fields(encoded(t, codec(t, key), payload(t, text)))}}
	}
	w := wire{reply: &workflowservice.ListWorkflowExecutionsResponse{Executions: []*workflowpb.WorkflowExecutionInfo{row("b"), row("a")}}}
	var got workflowservice.ListWorkflowExecutionsResponse
	if err := w.call(t, codec(t, "a"), "ListWorkflowExecutions", &workflowservice.ListWorkflowExecutionsRequest{}, &got); err != nil {
		t.Fatal(err)
	}
	if data := string(got.GetExecutions()[1].GetMemo().GetFields()["x"].GetData()); data != `"`+text+`"` {
		t.Errorf("the second row has %s", data)
	}
}

// The approvers of an approval are in its memo, and without any everybody may approve.
func TestADescriptionWithoutItsMemoIsAnError(t *testing.T) {
	describe := func(memo, summary *commonpb.Payload) error {
		w := wire{reply: &workflowservice.DescribeWorkflowExecutionResponse{
			ExecutionConfig:       &workflowpb.WorkflowExecutionConfig{UserMetadata: &sdkpb.UserMetadata{Summary: summary}},
			WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{Memo: &commonpb.Memo{Fields: fields(memo)}},
		}}
		return w.call(t, codec(t, "a"), "DescribeWorkflowExecution", &workflowservice.DescribeWorkflowExecutionRequest{}, &workflowservice.DescribeWorkflowExecutionResponse{})
	}
	clear, known, unknown := payload(t, text), encoded(t, codec(t, "a"), payload(t, text)), encoded(t, codec(t, "b"), payload(t, text))
	if err := describe(unknown, clear); status.Code(err) != codes.FailedPrecondition || !strings.Contains(err.Error(), "encryption.keys") {
		t.Errorf("the memo cannot be read: %v", err)
	}
	if err := describe(known, unknown); err != nil {
		t.Errorf("the summary cannot be read: %v", err)
	}
}
