package board

import (
	"bytes"
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

// Poster returns the function that a conversation calls for each request that settles. settled and view
// return its outcome, as in the answer to await_settled, and are called only if a gateway expects that.
// A replay posts nothing. The workflow does the same whether anything is posted or not.
func Poster(ctx workflow.Context, settled func([]string) []contract.Request, view func() contract.ConversationView) func(request string) {
	b, _ := ctx.Value(boardKey{}).(*Board)
	if b == nil {
		return func(string) {}
	}
	p := &poster{board: b, settled: settled, view: view}
	detached, _ := workflow.NewDisconnectedContext(ctx)
	workflow.Go(detached, p.watch)
	return func(request string) { p.post(ctx, request) }
}

type poster struct {
	board   *Board
	settled func([]string) []contract.Request
	view    func() contract.ConversationView
	last    *post // of the workflow task, or of an earlier one
}

// watch compares the view of the last outcome with the present one, whenever the coroutines of a workflow
// task have done something, also the last time. It has an end with its workflow.
func (p *poster) watch(ctx workflow.Context) {
	_ = workflow.Await(ctx, func() bool {
		if d := p.last; d != nil && d.task == taskOf(ctx) {
			now, err := p.outcome(d.request)
			p.board.compare(d, err == nil && bytes.Equal(now, d.outcome))
		}
		return false
	})
}

func (p *poster) post(ctx workflow.Context, request string) {
	if workflow.IsReplaying(ctx) || !p.board.expects(request) {
		return
	}
	outcome, err := p.outcome(request)
	if err != nil {
		workflow.GetLogger(ctx).Error("encode the outcome of a request", "error", err)
		return
	}
	p.last = &post{task: taskOf(ctx), request: request, outcome: outcome}
	p.board.draft(p.last)
}

func (p *poster) outcome(request string) (json.RawMessage, error) {
	return json.Marshal(contract.AwaitResult{Settled: p.settled([]string{request}), Conversation: p.view()})
}

func taskOf(ctx workflow.Context) task {
	info := workflow.GetInfo(ctx)
	return task{info.WorkflowExecution.RunID, int64(info.GetCurrentHistoryLength())}
}

func (b *Board) expects(request string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.expected[request] != nil
}

// draft adds an outcome to those of its workflow task. The conversation has changed since the others.
func (b *Board) draft(p *post) {
	b.mu.Lock()
	defer b.mu.Unlock()
	drafts, _ := b.drafts.Get(p.task.run)
	if len(drafts) > 0 && drafts[0].task != p.task {
		drafts = nil
	}
	for _, earlier := range drafts {
		earlier.current = false
	}
	b.drafts.Add(p.task.run, append(drafts, p))
}

// compare notes whether the conversation is as it was in an outcome.
func (b *Board) compare(p *post, same bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p.current = same
}
