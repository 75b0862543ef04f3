package asked_test

import (
	"context"
	"errors"
	"testing"

	commandpb "go.temporal.io/api/command/v1"
	commonpb "go.temporal.io/api/common/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"

	"agent-stop-and-go/gateway/service/backend/asked"
	"agent-stop-and-go/workflows/contract"
)

var id = contract.ApprovalWorkflowID("7c9e6679-7425-40de-944b-e07fc1f90ae7")

// begins is the end of a workflow task that begins a child workflow of a type.
func begins(kind string) *workflowservice.RespondWorkflowTaskCompletedRequest {
	fields := func(name string) map[string]*commonpb.Payload {
		return map[string]*commonpb.Payload{name: {Data: []byte("clear")}}
	}
	return &workflowservice.RespondWorkflowTaskCompletedRequest{Commands: []*commandpb.Command{
		{Attributes: &commandpb.Command_StartTimerCommandAttributes{}},
		{Attributes: &commandpb.Command_StartChildWorkflowExecutionCommandAttributes{StartChildWorkflowExecutionCommandAttributes: &commandpb.StartChildWorkflowExecutionCommandAttributes{
			WorkflowId: id, WorkflowType: &commonpb.WorkflowType{Name: kind}, TaskQueue: &taskqueuepb.TaskQueue{Name: "queue"},
			Memo: &commonpb.Memo{Fields: fields("m")}, SearchAttributes: &commonpb.SearchAttributes{IndexedFields: fields("a")},
		}}},
	}}
}

// ends sends the end of a workflow task. What is sent is encrypted in place, like by the connection.
func ends(a *asked.Approvals, r *workflowservice.RespondWorkflowTaskCompletedRequest, err error) {
	_ = a.Interceptor()(context.Background(), "/m", r, nil, nil, func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
		child := r.Commands[1].GetStartChildWorkflowExecutionCommandAttributes()
		child.Memo.Fields["m"] = &commonpb.Payload{Data: []byte("secret")}
		child.SearchAttributes.IndexedFields["a"] = child.Memo.Fields["m"]
		return err
	})
}

func TestAnApprovalIsKnownOnceTheServerHasAcceptedIt(t *testing.T) {
	a := asked.New()
	ends(a, begins(contract.WorkflowApproval), nil)
	info := a.Take(id)
	if info.GetTaskQueue() != "queue" || string(info.GetMemo().GetFields()["m"].GetData()) != "clear" || string(info.GetSearchAttributes().GetIndexedFields()["a"].GetData()) != "clear" {
		t.Errorf("%v", info)
	}
	if again := a.Take(id); again != nil {
		t.Errorf("a second time: %v", again)
	}
}

func TestWhatIsNotCertainIsNotKnown(t *testing.T) {
	page := begins(contract.WorkflowApproval)
	page.IntermediatePage = true
	for name, tt := range map[string]struct {
		request *workflowservice.RespondWorkflowTaskCompletedRequest
		err     error
	}{
		"refused by the server": {begins(contract.WorkflowApproval), errors.New("another task came first")},
		"an intermediate page":  {page, nil},
		"another child":         {begins(contract.WorkflowDelivery), nil},
	} {
		t.Run(name, func(t *testing.T) {
			a := asked.New()
			ends(a, tt.request, tt.err)
			if info := a.Take(id); info != nil {
				t.Errorf("%v", info)
			}
		})
	}
	if (*asked.Approvals)(nil).Take(id) != nil || asked.New().Take(id) != nil {
		t.Error("it is known from nowhere")
	}
}
