package telemetry

import (
	"context"
	"net/http"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"agent-stop-and-go/workflows/contract"
)

// Attributes of spans only: there are too many values for metrics.
const (
	attrConversation = "gen_ai.conversation.id"
	attrApproval     = "agent.approval.id"
	attrTurn         = "agent.turn"
)

var (
	tracer atomic.Pointer[trace.Tracer]
	w3c    propagation.TraceContext
)

// SetTracer sets what makes the spans of the process; it needs the IDs of this package. With nil,
// as at first, the process passes on the traces that it is given and makes none. The tracer is not
// the global one, because libraries would add their spans to every turn.
func SetTracer(t trace.Tracer) {
	if t == nil {
		tracer.Store(nil)
		return
	}
	tracer.Store(&t)
}

// Span is a part of a trace. The zero value records nothing.
type Span struct{ span trace.Span }

func start(ctx context.Context, name string, kind trace.SpanKind, a ...attribute.KeyValue) (context.Context, Span) {
	t := tracer.Load()
	if t == nil {
		return ctx, Span{}
	}
	ctx, span := (*t).Start(ctx, name, trace.WithSpanKind(kind), trace.WithAttributes(a...))
	return ctx, Span{span}
}

// StartRequest begins the span of an HTTP request, which goes on with the caller's trace if the
// request names one.
func StartRequest(r *http.Request, route string) (context.Context, Span) {
	ctx := w3c.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	return start(ctx, methodOf(r.Method)+" "+route, trace.SpanKindServer, attribute.String(attrMethod, methodOf(r.Method)), attribute.String(attrRoute, route))
}

// StartChat begins the span of a model call.
func StartChat(ctx context.Context, provider contract.Provider, model string) (context.Context, Span) {
	return start(ctx, "chat "+model, trace.SpanKindClient, attribute.String(attrOperation, "chat"),
		attribute.String(attrProvider, string(provider)), attribute.String(attrRequestModel, model))
}

// StartTool begins the span of a tool call.
func StartTool(ctx context.Context, server, tool string) (context.Context, Span) {
	return start(ctx, "execute_tool "+tool, trace.SpanKindClient, attribute.String(attrOperation, "execute_tool"),
		attribute.String(attrTool, tool), attribute.String(attrServer, server))
}

// StartDelegation begins the span of a message to another agent.
func StartDelegation(ctx context.Context, agent string) (context.Context, Span) {
	return start(ctx, "invoke_agent "+agent, trace.SpanKindClient, attribute.String(attrOperation, "invoke_agent"), attribute.String(attrAgent, agent))
}

// End ends the span; failure is empty if nothing has failed.
func (s Span) End(failure contract.Kind) {
	if s.span == nil {
		return
	}
	if failure != "" {
		s.span.SetAttributes(attribute.String(attrError, string(failure)))
		s.span.SetStatus(codes.Error, string(failure))
	}
	s.span.End()
}

// EndRequest ends the span of an HTTP request.
func (s Span) EndRequest(status int, conversationID string) {
	if s.span == nil {
		return
	}
	s.span.SetAttributes(attribute.Int(attrStatus, status))
	if conversationID != "" {
		s.span.SetAttributes(attribute.String(attrConversation, conversationID))
	}
	if status >= http.StatusInternalServerError {
		s.span.SetStatus(codes.Error, http.StatusText(status))
	}
	s.span.End()
}

// TraceID returns the ID of the trace in ctx, or "".
func TraceID(ctx context.Context) string { return traceID(trace.SpanContextFromContext(ctx)) }

func traceID(c trace.SpanContext) string {
	if !c.IsValid() {
		return ""
	}
	return c.TraceID().String()
}

// traceHeader is the name of the W3C header with the trace, in HTTP and everywhere else.
const traceHeader = "traceparent"

// Traceparent returns the value of the W3C header traceparent for what is called with ctx, or "".
func Traceparent(ctx context.Context) string {
	c := propagation.MapCarrier{}
	w3c.Inject(ctx, c)
	return c[traceHeader]
}

// parse returns what a traceparent names. It is not valid for anything else.
func parse(traceparent string) trace.SpanContext {
	ctx := w3c.Extract(context.Background(), propagation.MapCarrier{traceHeader: traceparent})
	return trace.SpanContextFromContext(ctx)
}

// Transport adds the header traceparent to requests.
type Transport struct{ Base http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if parent := Traceparent(r.Context()); parent != "" {
		r = r.Clone(r.Context())
		r.Header.Set(traceHeader, parent)
	}
	return t.Base.RoundTrip(r)
}
