// Package telemetry starts the OpenTelemetry of a process, as the usual OTEL_* variables say.
//
//	t, err := telemetry.Start(ctx, telemetry.Options{Service: "worker", Version: version, Getenv: os.Getenv, Logger: logger})
//	defer t.Stop(ctx)
//
// Metrics are off unless OTEL_METRICS_EXPORTER, OTEL_EXPORTER_OTLP_ENDPOINT or
// OTEL_EXPORTER_OTLP_METRICS_ENDPOINT is set, and traces unless the same with TRACES is: a process
// that nobody watches opens no port and calls nobody. OTEL_METRICS_EXPORTER=prometheus serves them at
// http://localhost:9464/metrics; OTEL_EXPORTER_PROMETHEUS_HOST and _PORT set another address.
//
// The metrics and spans themselves are made by package workflows/telemetry, besides the metrics of the Temporal SDK.
package telemetry
