package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/google/uuid"
	"go.opentelemetry.io/contrib/exporters/autoexport"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/opentelemetry"

	"agent-stop-and-go/workflows/telemetry"
)

// Options describe the process.
type Options struct {
	// Service is the name of the program, unless OTEL_SERVICE_NAME has another.
	Service, Version string
	// Getenv reads the variables that turn telemetry on. The exporters read the environment of
	// the process themselves.
	Getenv func(string) string
	Logger *slog.Logger
}

// Telemetry is running until Stop. The zero value is off.
type Telemetry struct {
	metrics *metric.MeterProvider // nil if metrics are off
	traces  *trace.TracerProvider // nil if traces are off
}

// Start sets the providers of the process.
func Start(ctx context.Context, o Options) (*Telemetry, error) {
	t := &Telemetry{}
	metrics, traces := isOn(o.Getenv, "METRICS"), isOn(o.Getenv, "TRACES")
	if !metrics && !traces {
		return t, nil
	}
	reportErrors(o.Logger)
	r, err := describe(ctx, o)
	if err == nil && metrics {
		err = t.startMetrics(ctx, o, r)
	}
	if err == nil && traces {
		err = t.startTraces(ctx, o, r)
	}
	if err != nil {
		return nil, errors.Join(err, t.Stop(ctx))
	}
	return t, nil
}

func (t *Telemetry) startMetrics(ctx context.Context, o Options, r *resource.Resource) error {
	reader, err := autoexport.NewMetricReader(ctx)
	if err != nil {
		return fmt.Errorf("export metrics as OTEL_METRICS_EXPORTER=%s says: %w", o.Getenv("OTEL_METRICS_EXPORTER"), err)
	}
	t.metrics = metric.NewMeterProvider(metric.WithReader(reader), metric.WithResource(r), metric.WithView(views()...))
	otel.SetMeterProvider(t.metrics)
	return nil
}

func (t *Telemetry) startTraces(ctx context.Context, o Options, r *resource.Resource) error {
	exporter, err := autoexport.NewSpanExporter(ctx)
	if err != nil {
		return fmt.Errorf("export traces as OTEL_TRACES_EXPORTER=%s says: %w", o.Getenv("OTEL_TRACES_EXPORTER"), err)
	}
	t.traces = trace.NewTracerProvider(trace.WithBatcher(exporter), trace.WithResource(r), trace.WithIDGenerator(telemetry.IDs{}))
	telemetry.SetTracer(t.traces.Tracer(telemetry.Scope))
	return nil
}

// isOn reports whether the environment asks for a signal: METRICS or TRACES.
func isOn(getenv func(string) string, signal string) bool {
	if strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") {
		return false
	}
	if exporter := getenv("OTEL_" + signal + "_EXPORTER"); exporter != "" {
		return exporter != "none"
	}
	return getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || getenv("OTEL_EXPORTER_OTLP_"+signal+"_ENDPOINT") != ""
}

// describe describes the process. OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME take precedence.
func describe(ctx context.Context, o Options) (*resource.Resource, error) {
	r, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(
		attribute.String("service.name", o.Service), attribute.String("service.version", o.Version),
		attribute.String("service.instance.id", uuid.NewString()),
	), resource.WithFromEnv())
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, fmt.Errorf("read OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	return r, nil
}

// reportErrors logs what goes wrong in exporters.
func reportErrors(logger *slog.Logger) {
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { logger.Warn("telemetry", "error", err) }))
}

// Handler returns what records the metrics of the Temporal SDK, or nil if metrics are off.
func (t *Telemetry) Handler() client.MetricsHandler {
	if t.metrics == nil {
		return nil
	}
	return opentelemetry.NewMetricsHandler(opentelemetry.MetricsHandlerOptions{
		Meter: t.metrics.Meter("temporal-sdk-go"), OnError: otel.Handle, UseMonotonicCounters: true,
	})
}

// Stop exports what is left, and ends.
func (t *Telemetry) Stop(ctx context.Context) error {
	var err error
	if t.traces != nil {
		telemetry.SetTracer(nil)
		err = t.traces.Shutdown(ctx)
	}
	if t.metrics != nil {
		err = errors.Join(err, t.metrics.Shutdown(ctx))
	}
	if err != nil {
		return fmt.Errorf("export the last metrics and traces: %w", err)
	}
	return nil
}

// views give the timers of the Temporal SDK, which are in seconds, bounds that fit them, and drop
// what libraries measure besides: the blob store has its own metric.
func views() []metric.View {
	seconds := metric.AggregationExplicitBucketHistogram{
		Boundaries: []float64{0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600},
	}
	return []metric.View{
		metric.NewView(metric.Instrument{Name: "temporal_*", Kind: metric.InstrumentKindHistogram}, metric.Stream{Aggregation: seconds}),
		metric.NewView(metric.Instrument{Name: "gocloud.dev/*"}, metric.Stream{Aggregation: metric.AggregationDrop{}}),
	}
}
