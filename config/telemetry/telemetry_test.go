package telemetry_test

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/config/telemetry"
	record "agent-stop-and-go/workflows/telemetry"
)

func start(t *testing.T, env map[string]string) (*telemetry.Telemetry, error) {
	t.Helper()
	for name, value := range env {
		t.Setenv(name, value)
	}
	return telemetry.Start(t.Context(), telemetry.Options{
		Service: "tester", Version: "1.2.3", Getenv: os.Getenv, Logger: slog.New(slog.DiscardHandler),
	})
}

func TestTelemetryIsOffUnlessTheEnvironmentAsks(t *testing.T) {
	for name, env := range map[string]map[string]string{
		"nothing":  nil,
		"none":     {"OTEL_METRICS_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"},
		"disabled": {"OTEL_METRICS_EXPORTER": "prometheus", "OTEL_SDK_DISABLED": "true"},
		"traces":   {"OTEL_TRACES_EXPORTER": "none"},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := start(t, env)
			if err != nil || o.Handler() != nil {
				t.Errorf("on: %v, %v", o.Handler(), err)
			}
			if err := o.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

func TestPrometheusReadsOursAndTheSDKs(t *testing.T) {
	port := freePort(t)
	o, err := start(t, map[string]string{
		"OTEL_METRICS_EXPORTER": "prometheus", "OTEL_EXPORTER_PROMETHEUS_HOST": "127.0.0.1", "OTEL_EXPORTER_PROMETHEUS_PORT": port,
	})
	if err != nil {
		t.Fatal(err)
	}
	record.Failure(t.Context(), "call_tool", "tool_failed")
	record.ToolCall(t.Context(), "resources", "list", time.Second, "")
	o.Handler().WithTags(map[string]string{"operation": "Poll"}).Counter("temporal_request").Inc(1)
	o.Handler().Timer("temporal_request_latency").Record(time.Millisecond)
	text := scrape(t, "http://127.0.0.1:"+port+"/metrics")
	for _, want := range []string{
		`agent_failures_total{agent_activity="call_tool",error_type="tool_failed",`, `gen_ai_execute_tool_duration_seconds_count{`,
		`temporal_request_total{operation="Poll",`, `temporal_request_latency_seconds_bucket{`, `le="0.001"} 1`, `service_name="tester"`, "# HELP agent_failures_total Failed attempts",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if _, err := start(t, nil); err == nil || !strings.Contains(err.Error(), "OTEL_METRICS_EXPORTER=prometheus") {
		t.Errorf("a port in use: %v", err)
	}
	if err := o.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

func scrape(t *testing.T, url string) string {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
