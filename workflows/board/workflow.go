package board

import (
	"encoding/json"

	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
)

// With gives workflows the board of their process. It may be nil.
func With(b *Board) interceptor.WorkerInterceptor { return &worker{board: b} }

type worker struct {
	interceptor.WorkerInterceptorBase
	board *Board
}

func (w *worker) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	return &inbound{interceptor.WorkflowInboundInterceptorBase{Next: next}, w.board}
}

type inbound struct {
	interceptor.WorkflowInboundInterceptorBase
	board *Board
}

type boardKey struct{}

func (i *inbound) ExecuteWorkflow(ctx workflow.Context, in *interceptor.ExecuteWorkflowInput) (any, error) {
	return i.Next.ExecuteWorkflow(workflow.WithValue(ctx, boardKey{}, i.board), in)
}

// Post tells that a request has settled. settled and view return its outcome, as in the answer to
// await_settled, and are called only if a gateway expects that. A replay posts nothing. The workflow
// does the same whether anything is posted or not.
func Post(ctx workflow.Context, request string, settled func([]string) []contract.Request, view func() contract.ConversationView) {
	b, _ := ctx.Value(boardKey{}).(*Board)
	if b == nil || workflow.IsReplaying(ctx) || !b.expects(request) {
		return
	}
	outcome, err := json.Marshal(contract.AwaitResult{Settled: settled([]string{request}), Conversation: view()})
	if err != nil {
		workflow.GetLogger(ctx).Error("encode the outcome of a request", "error", err)
		return
	}
	info := workflow.GetInfo(ctx)
	b.draft(info.WorkflowExecution.RunID, int64(info.GetCurrentHistoryLength()), request, outcome)
}

func (b *Board) expects(request string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.expected[request] != nil
}

// draft adds an outcome to those of a workflow task.
func (b *Board) draft(run string, number int64, request string, outcome json.RawMessage) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d, ok := b.drafts.Get(run)
	if !ok || d.number != number {
		d = draft{number, map[string]json.RawMessage{}}
		b.drafts.Add(run, d)
	}
	d.outcomes[request] = outcome
}
