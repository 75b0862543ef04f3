package telemetry_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/telemetry"
)

func exporting(t *testing.T) *tracetest.InMemoryExporter {
	t.Helper()
	e := tracetest.NewInMemoryExporter()
	telemetry.SetTracer(trace.NewTracerProvider(trace.WithSyncer(e), trace.WithIDGenerator(telemetry.IDs{})).Tracer(""))
	t.Cleanup(func() { telemetry.SetTracer(nil) })
	return e
}

// Two turns, of which the first waits two days for two approvals.
func TestNoSpanLastsAsLongAsPeopleTake(t *testing.T) {
	exporter := exporting(t)
	var suite testsuite.WorkflowTestSuite
	suite.SetContextPropagators([]workflow.ContextPropagator{telemetry.Propagator()})
	env := suite.NewTestWorkflowEnvironment()
	env.ExecuteWorkflow(func(ctx workflow.Context) error {
		in := contract.ConversationInput{ID: "c-1", Agent: contract.Agent{Name: "tester"}}
		_, turn := telemetry.StartTurn(ctx, in, 1, "r-1")
		one, other := contract.PendingApproval{UUID: "one"}, contract.PendingApproval{UUID: "other"}
		turn.Wait(ctx, []contract.PendingApproval{one})
		for _, open := range [][]contract.PendingApproval{{one, other}, {other}, nil} {
			if err := workflow.Sleep(ctx, 16*time.Hour); err != nil {
				return err
			}
			turn.Wait(ctx, open)
		}
		turn.End(ctx, contract.OutcomeDone, time.Second)
		_, turn = telemetry.StartTurn(ctx, in, 2, "r-2")
		turn.End(ctx, contract.OutcomeFailed, time.Second)
		return nil
	})
	if err := env.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	spans := exporter.GetSpans()
	if len(spans) != 3 {
		t.Fatalf("%d spans, want two of the first turn and one of the second", len(spans))
	}
	for _, s := range spans {
		if took := s.EndTime.Sub(s.StartTime); s.Name != "invoke_agent tester" || took > time.Minute || took < 0 {
			t.Errorf("%s took %s", s.Name, took)
		}
	}
	first, second, next := spans[0], spans[1], spans[2]
	if len(first.Events) != 1 || len(second.Events) != 3 {
		t.Errorf("events %v and %v", first.Events, second.Events)
	}
	if first.SpanContext.TraceID() != second.SpanContext.TraceID() || first.SpanContext.SpanID() == second.SpanContext.SpanID() {
		t.Error("the parts of a turn are not in one trace")
	}
	if next.SpanContext.TraceID() == first.SpanContext.TraceID() || len(next.Links) != 1 || next.Links[0].SpanContext.TraceID() != first.SpanContext.TraceID() {
		t.Errorf("the second turn is not linked to the first: %v", next.Links)
	}
}

func TestATraceIsPassedOnWhereNoneIsExported(t *testing.T) {
	const given = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	ctx, span := telemetry.StartTool(t.Context(), "s", "t")
	span.End("")
	if got := telemetry.Traceparent(ctx); got != "" {
		t.Errorf("made %s", got)
	}
	r := requestWith(given)
	ctx, span = telemetry.StartRequest(r, "/a2a")
	span.EndRequest(200, "c-1")
	if got := telemetry.Traceparent(ctx); got != given {
		t.Errorf("passed on %q", got)
	}
}

func requestWith(traceparent string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/a2a", nil)
	r.Header.Set("traceparent", traceparent)
	return r
}
