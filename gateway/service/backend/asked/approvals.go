package asked

import (
	"context"
	"maps"

	lru "github.com/hashicorp/golang-lru/v2"
	commandpb "go.temporal.io/api/command/v1"
	commonpb "go.temporal.io/api/common/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"

	"agent-stop-and-go/workflows/contract"
)

// maxKept is the number of approvals that wait for their first reader. Each has a few KiB.
const maxKept = 500

// Approvals are approvals that the worker of this process has asked for. It is safe for concurrent
// use. Nil knows none.
type Approvals struct {
	byID *lru.Cache[string, *workflowpb.WorkflowExecutionInfo]
}

// New returns Approvals that know none yet.
func New() *Approvals {
	byID, err := lru.New[string, *workflowpb.WorkflowExecutionInfo](maxKept)
	if err != nil {
		panic(err) // the size is positive
	}
	return &Approvals{byID}
}

// Take returns the task queue, the search attributes and the memo with which the workflow of an
// approval was begun, once, or nil.
func (a *Approvals) Take(workflowID string) *workflowpb.WorkflowExecutionInfo {
	if a == nil {
		return nil
	}
	info, _ := a.byID.Get(workflowID)
	a.byID.Remove(workflowID)
	return info
}

// Interceptor returns the interceptor of the connection of the worker. It must see clear text.
func (a *Approvals) Interceptor() grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, o ...grpc.CallOption) error {
		r, ok := req.(*workflowservice.RespondWorkflowTaskCompletedRequest)
		if !ok || r.GetIntermediatePage() { // the server may still refuse the task
			return invoke(ctx, method, req, reply, cc, o...)
		}
		all := approvals(r.GetCommands()) // before what comes next encrypts them
		err := invoke(ctx, method, req, reply, cc, o...)
		if err == nil {
			for id, info := range all {
				a.byID.Add(id, info)
			}
		}
		return err
	}
}

// approvals returns the approvals that commands begin, by workflow ID.
func approvals(commands []*commandpb.Command) map[string]*workflowpb.WorkflowExecutionInfo {
	var out map[string]*workflowpb.WorkflowExecutionInfo
	for _, c := range commands {
		child := c.GetStartChildWorkflowExecutionCommandAttributes()
		if child.GetWorkflowType().GetName() != contract.WorkflowApproval {
			continue
		}
		if out == nil {
			out = map[string]*workflowpb.WorkflowExecutionInfo{}
		}
		out[child.GetWorkflowId()] = &workflowpb.WorkflowExecutionInfo{
			TaskQueue:        child.GetTaskQueue().GetName(),
			SearchAttributes: &commonpb.SearchAttributes{IndexedFields: maps.Clone(child.GetSearchAttributes().GetIndexedFields())},
			Memo:             &commonpb.Memo{Fields: maps.Clone(child.GetMemo().GetFields())},
		}
	}
	return out
}
