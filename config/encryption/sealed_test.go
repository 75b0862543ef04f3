package encryption_test

import (
	"testing"

	failurepb "go.temporal.io/api/failure/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"agent-stop-and-go/config/encryption"
)

func failed(f *failurepb.Failure) *workflowservice.GetWorkflowExecutionHistoryResponse {
	return &workflowservice.GetWorkflowExecutionHistoryResponse{History: &historypb.History{Events: []*historypb.HistoryEvent{{
		Attributes: &historypb.HistoryEvent_WorkflowExecutionFailedEventAttributes{
			WorkflowExecutionFailedEventAttributes: &historypb.WorkflowExecutionFailedEventAttributes{Failure: f},
		},
	}}}}
}

// Another program may move the texts of failures to payloads and encrypt nothing.
func TestEncodedFailuresAreReadWithoutKeys(t *testing.T) {
	f := failure()
	f.Cause = nil
	if err := converter.EncodeCommonFailureAttributes(converter.GetDefaultDataConverter(), f); err != nil {
		t.Fatal(err)
	}
	w := wire{reply: failed(f)}
	var got workflowservice.GetWorkflowExecutionHistoryResponse
	if err := w.call(t, nil, "GetWorkflowExecutionHistory", &workflowservice.GetWorkflowExecutionHistoryRequest{}, &got); err != nil {
		t.Fatal(err)
	}
	if f := got.GetHistory().GetEvents()[0].GetWorkflowExecutionFailedEventAttributes().GetFailure(); f.GetMessage() != text || f.GetEncodedAttributes() != nil {
		t.Errorf("read as %v", f)
	}
}

func TestWhatIsInClearIsReadAsItIs(t *testing.T) {
	w := wire{reply: failed(failure())}
	var got workflowservice.GetWorkflowExecutionHistoryResponse
	if err := w.call(t, nil, "GetWorkflowExecutionHistory", &workflowservice.GetWorkflowExecutionHistoryRequest{}, &got); err != nil {
		t.Fatal(err)
	}
	if !proto.Equal(&got, failed(failure())) {
		t.Errorf("read as %v", &got)
	}
	w = wire{err: status.Error(codes.NotFound, "no workflow")}
	if err := w.call(t, nil, "GetWorkflowExecutionHistory", &workflowservice.GetWorkflowExecutionHistoryRequest{}, &got); status.Code(err) != codes.NotFound {
		t.Errorf("got %v", err)
	}
	if len(w.sent) != 1 {
		t.Errorf("a call that failed was made %d times", len(w.sent))
	}
}

// A response that is longer than a frame comes in pieces, and a mark may be in two or more of them.
func TestAMarkIsSeenInWhateverPiecesItComes(t *testing.T) {
	before, after := make([]byte, 70), make([]byte, 70)
	for _, mark := range []string{encryption.Encoding, "Encoded failure"} {
		whole := append(append(before[:70:70], mark...), after...)
		for i := range whole {
			for _, j := range []int{i, i + 1, i + 5, i + 40, len(whole)} {
				j = min(j, len(whole))
				data := mem.BufferSlice{mem.SliceBuffer(whole[:i]), mem.SliceBuffer(whole[i:j]), mem.SliceBuffer(whole[j:])}
				if !encryption.HasMark(data) {
					t.Fatalf("%q in pieces of %d, %d and %d bytes", mark, i, j-i, len(whole)-j)
				}
			}
		}
		var bytes mem.BufferSlice
		for i := range whole {
			bytes = append(bytes, mem.SliceBuffer(whole[i:i+1]))
		}
		if !encryption.HasMark(bytes) {
			t.Errorf("%q byte by byte", mark)
		}
	}
	if encryption.HasMark(mem.BufferSlice{mem.SliceBuffer("binary/encrypte"), mem.SliceBuffer("-"), mem.SliceBuffer("d")}) {
		t.Error("a mark was seen where none is")
	}
}
