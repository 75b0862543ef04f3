package telemetry

import (
	"context"
	"encoding/json"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
)

// Propagator carries the trace in the headers of workflows, signals and activities. Clients and
// workers must be given it. Headers are no part of what a replay compares: histories with and
// without them replay alike.
func Propagator() workflow.ContextPropagator { return propagator{} }

type propagator struct{}

type traceKey struct{}

// current is the trace that a workflow works for.
type current struct{ traceparent string }

func (propagator) Inject(ctx context.Context, w workflow.HeaderWriter) error {
	return write(Traceparent(ctx), w)
}

func (propagator) InjectFromWorkflow(ctx workflow.Context, w workflow.HeaderWriter) error {
	c, _ := ctx.Value(traceKey{}).(*current)
	if c == nil {
		return nil
	}
	return write(c.traceparent, w)
}

func write(traceparent string, w workflow.HeaderWriter) error {
	if traceparent == "" {
		return nil
	}
	payload, err := converter.GetDefaultDataConverter().ToPayload(traceparent)
	if err != nil {
		return err
	}
	w.Set(traceHeader, payload)
	return nil
}

// Extract ignores what it cannot read: a trace is never worth a call.
func (propagator) Extract(ctx context.Context, r workflow.HeaderReader) (context.Context, error) {
	payload, _ := r.Get(traceHeader)
	return contextWith(ctx, parse(read(payload))), nil
}

func (propagator) ExtractToWorkflow(ctx workflow.Context, r workflow.HeaderReader) (workflow.Context, error) {
	payload, _ := r.Get(traceHeader)
	return workflow.WithValue(ctx, traceKey{}, &current{read(payload)}), nil
}

// WorkflowTraceID returns the ID of the trace that a workflow works for, or "".
func WorkflowTraceID(ctx workflow.Context) string {
	c, _ := ctx.Value(traceKey{}).(*current)
	if c == nil {
		return ""
	}
	return traceID(parse(c.traceparent))
}

// read returns a string payload, or "".
func read(payload *commonpb.Payload) (text string) {
	if payload == nil || converter.GetDefaultDataConverter().FromPayload(payload, &text) != nil {
		return ""
	}
	return text
}

// Messages notes in which trace each message came to a conversation.
func Messages() interceptor.WorkerInterceptor { return &messages{} }

type messages struct {
	interceptor.WorkerInterceptorBase
}

func (*messages) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	return &inbound{WorkflowInboundInterceptorBase: interceptor.WorkflowInboundInterceptorBase{Next: next}, traces: traces{}}
}

// traces are the traces of messages that wait for their turn, by request.
type traces map[string]string

type tracesKey struct{}

// maxTraces bounds traces. Further messages begin traces of their own.
const maxTraces = 100

type inbound struct {
	interceptor.WorkflowInboundInterceptorBase
	traces traces
}

func (i *inbound) ExecuteWorkflow(ctx workflow.Context, in *interceptor.ExecuteWorkflowInput) (any, error) {
	return i.Next.ExecuteWorkflow(workflow.WithValue(ctx, tracesKey{}, i.traces), in)
}

func (i *inbound) HandleSignal(ctx workflow.Context, in *interceptor.HandleSignalInput) error {
	if payload := interceptor.WorkflowHeader(ctx)[traceHeader]; payload != nil && in.SignalName == contract.SignalMessage {
		i.traces.note(in.Arg, read(payload))
	}
	return i.Next.HandleSignal(ctx, in)
}

func (t traces) note(arg *commonpb.Payloads, traceparent string) {
	var m struct {
		RequestID string `json:"request_id"`
	}
	if len(t) >= maxTraces || len(arg.GetPayloads()) != 1 || json.Unmarshal(arg.GetPayloads()[0].GetData(), &m) != nil || m.RequestID == "" {
		return
	}
	t[m.RequestID] = traceparent
}
