package telemetry

import (
	"context"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
)

// TurnTrace makes the spans of a turn: one for each part in which it works. A part ends when an
// approval opens and the next one begins when no approval waits any more, so that no span lasts
// as long as people take. Opening and decision are events of the spans before and after.
type TurnTrace struct {
	agent, conversation string
	run                 string
	turn, part          int
	parent, before      trace.SpanContext
	span                trace.SpanContext // of the present part
	began               time.Time
	open                []string // approvals
	events              []event
	current             *current
}

type event struct {
	name string
	at   time.Time
	a    []attribute.KeyValue
}

// StartTurn begins the trace of a turn that answers a request, below the request's own trace if
// it came with one. What is called with the context that it returns belongs to the turn.
func StartTurn(ctx workflow.Context, in contract.ConversationInput, turn int, requestID string) (workflow.Context, *TurnTrace) {
	own, _ := ctx.Value(traceKey{}).(*current)
	if own == nil {
		own = &current{}
	}
	t := &TurnTrace{
		agent: in.Agent.Name, conversation: in.ID, run: workflow.GetInfo(ctx).WorkflowExecution.RunID, turn: turn, began: workflow.Now(ctx),
		current: &current{},
	}
	known, _ := ctx.Value(tracesKey{}).(traces)
	given, came := known[requestID]
	switch delete(known, requestID); {
	case came:
		t.parent, t.before = parse(given), parse(own.traceparent)
	case turn == 1:
		given = own.traceparent
		t.parent = parse(given)
	default:
		t.before = parse(own.traceparent)
	}
	t.current.traceparent = given
	if tracer.Load() != nil {
		t.name()
		own.traceparent = t.current.traceparent // the next turn's trace links to it
	}
	return workflow.WithValue(ctx, traceKey{}, t.current), t
}

// name gives the present part its span, before it is made.
func (t *TurnTrace) name() {
	t.span = spanOf(t.parent, t.run, t.turn, t.part)
	t.current.traceparent = Traceparent(trace.ContextWithSpanContext(context.Background(), t.span))
}

// Wait notes which approvals are open now. The first one ends the present part; when none is
// left, the next part begins.
func (t *TurnTrace) Wait(ctx workflow.Context, open []contract.PendingApproval) {
	waited := len(t.open) > 0
	for _, p := range open {
		if !slices.Contains(t.open, p.UUID) {
			t.events = append(t.events, event{"approval opened", workflow.Now(ctx), []attribute.KeyValue{
				attribute.String(attrApproval, p.UUID), attribute.String(attrTool, p.ToolName), attribute.String(attrReason, string(p.Reason))}})
		}
	}
	isOpen := func(id string) bool {
		return slices.ContainsFunc(open, func(p contract.PendingApproval) bool { return p.UUID == id })
	}
	for _, id := range t.open {
		if !isOpen(id) {
			t.events = append(t.events, event{"approval closed", workflow.Now(ctx), []attribute.KeyValue{attribute.String(attrApproval, id)}})
		}
	}
	t.open = nil
	for _, p := range open {
		t.open = append(t.open, p.UUID)
	}
	switch waits := len(t.open) > 0; {
	case waits && !waited:
		t.export(ctx)
	case waited && !waits:
		t.part, t.began = t.part+1, workflow.Now(ctx)
		if t.span.IsValid() {
			t.name()
		}
	}
}

// End ends the turn, and records it.
func (t *TurnTrace) End(ctx workflow.Context, o contract.Outcome, worked time.Duration) {
	if len(t.open) == 0 {
		t.export(ctx, attribute.String(attrOutcome, string(o)))
	}
	recordTurn(ctx, t.agent, o, worked)
}

// export makes the span of the present part. Replays make none.
func (t *TurnTrace) export(ctx workflow.Context, more ...attribute.KeyValue) {
	events := t.events
	t.events = nil
	exported := tracer.Load()
	if exported == nil || !t.span.IsValid() || workflow.IsReplaying(ctx) {
		return
	}
	parent := trace.ContextWithRemoteSpanContext(context.Background(), t.parent)
	o := []trace.SpanStartOption{trace.WithTimestamp(t.began), trace.WithSpanKind(trace.SpanKindInternal), trace.WithAttributes(append(more,
		attribute.String(attrOperation, "invoke_agent"), attribute.String(attrAgent, t.agent),
		attribute.String(attrConversation, t.conversation), attribute.Int(attrTurn, t.turn))...)}
	if t.before.IsValid() {
		o = append(o, trace.WithLinks(trace.Link{SpanContext: t.before}))
	}
	_, span := (*exported).Start(withID(parent, t.span), "invoke_agent "+t.agent, o...)
	for _, e := range events {
		span.AddEvent(e.name, trace.WithTimestamp(e.at), trace.WithAttributes(e.a...))
	}
	span.End(trace.WithTimestamp(workflow.Now(ctx)))
}

// contextWith returns ctx in the trace of a span elsewhere.
func contextWith(ctx context.Context, c trace.SpanContext) context.Context {
	if !c.IsValid() {
		return ctx
	}
	return trace.ContextWithRemoteSpanContext(ctx, c)
}
