package telemetry_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/telemetry"
)

var update = flag.Bool("update", false, "rewrite the table of metrics in the document")

const (
	document = "../../deploy/MONITORING.md"
	tableTop = "| Prometheus name | OpenTelemetry name | kind | attributes | meaning |\n| --- | --- | --- | --- | --- |\n"
)

func TestTheDocumentHasTheTable(t *testing.T) {
	data, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(data), tableTop)
	if !found {
		t.Fatalf("%s has no table with the head\n%s", document, tableTop)
	}
	old, after, _ := strings.Cut(rest, "\n\n")
	rows := strings.TrimSuffix(rows(), "\n")
	if old == rows {
		return
	}
	if !*update {
		t.Fatalf("%s has another table: run go test ./workflows/telemetry -update; expected\n%s", document, rows)
	}
	if err := os.WriteFile(document, []byte(before+tableTop+rows+"\n\n"+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

func rows() string {
	var b strings.Builder
	for _, m := range telemetry.Table() {
		var attributes []string
		for _, a := range m.Attributes {
			attributes = append(attributes, "`"+underscored(a)+"`")
		}
		fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s | %s |\n", prometheusName(m), m.Name, m.Kind, strings.Join(attributes, " "), m.Help)
	}
	return b.String()
}

func underscored(name string) string { return strings.ReplaceAll(name, ".", "_") }

func prometheusName(m telemetry.Metric) string {
	name := underscored(m.Name) + map[string]string{"s": "_seconds", "By": "_bytes"}[m.Unit]
	if m.Kind == telemetry.Counter {
		name += "_total"
	}
	return name
}

func TestEveryMetricHasAUnitAndAHelpText(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range telemetry.Table() {
		own := strings.HasPrefix(m.Name, "agent.") || strings.HasPrefix(m.Name, "gen_ai.") || strings.HasPrefix(m.Name, "http.")
		if m.Unit == "" || m.Unit == "1" || !strings.HasSuffix(m.Help, ".") || !own || seen[m.Name] {
			t.Errorf("%+v", m)
		}
		if (len(m.Buckets) > 0) != (m.Kind == telemetry.Histogram) || !slices.IsSorted(m.Buckets) {
			t.Errorf("%s: buckets %v", m.Name, m.Buckets)
		}
		seen[m.Name] = true
	}
}

// approval is decided after a minute.
func approval() (contract.ApprovalInput, contract.ApprovalResult) {
	asked := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return contract.ApprovalInput{AgentName: "a", Reason: contract.ReasonDestructive, Tool: "remove"},
		contract.ApprovalResult{Decision: contract.Approved, RequestedAt: asked, DecidedAt: asked.Add(time.Minute), By: "alice"}
}

func record(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	telemetry.ModelCall{Provider: "demo", Model: "demo:rules", Answered: "rules", Took: time.Second, First: time.Millisecond, Usage: contract.Usage{InputTokens: 3, OutputTokens: 4}}.Record(ctx)
	telemetry.ModelCall{Provider: "demo", Model: "demo:rules", Failure: contract.KindModelAuth}.Record(ctx)
	telemetry.ToolCall(ctx, "resources", "remove", time.Second, "")
	telemetry.ToolCall(ctx, "resources", "remove", time.Second, contract.KindToolFailed)
	telemetry.Failure(ctx, "call_tool", contract.KindToolFailed)
	telemetry.Readers(2)
	telemetry.Readers(-1)
	telemetry.Blob(ctx, "read", time.Millisecond, true)
	telemetry.Request(ctx, "BREW", "/tools", 200, time.Millisecond)
	t.Cleanup(telemetry.ObserveFeed(func() (string, string) { return "redis", "away" }))
	t.Cleanup(telemetry.ObserveSurvey(func(context.Context) (telemetry.Survey, error) {
		return telemetry.Survey{Stuck: 1, Waiting: []telemetry.Waiting{{Agent: "a", Reason: contract.ReasonLimit, Open: 2, Oldest: 60}}, Witnesses: []telemetry.Witness{{Name: "example.com/w", Unsigned: 3, Age: 60}}}, nil
	}))
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.ExecuteWorkflow(func(ctx workflow.Context) error {
		in, r := approval()
		_, turn := telemetry.StartTurn(ctx, contract.ConversationInput{Agent: contract.Agent{Name: "a"}}, 1, "r-1")
		turn.End(ctx, contract.OutcomeDone, time.Second)
		telemetry.ApprovalOpened(ctx, in)
		telemetry.ApprovalClosed(ctx, in, r)
		return nil
	})
	if err := env.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
}

func TestMetricsAreExportedAsTheTableSays(t *testing.T) {
	reader := metric.NewManualReader()
	otel.SetMeterProvider(metric.NewMeterProvider(metric.WithReader(reader)))
	record(t)
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	found := map[string]metricdata.Metrics{}
	for _, s := range all.ScopeMetrics {
		for _, m := range s.Metrics {
			found[m.Name] = m
		}
	}
	for _, want := range telemetry.Table() {
		m := found[want.Name]
		if m.Unit != want.Unit || m.Description != want.Help {
			t.Errorf("%s: exported as %q in %q", want.Name, m.Description, m.Unit)
		}
		for _, set := range attributesOf(m) {
			for _, a := range set.ToSlice() {
				if !slices.Contains(want.Attributes, string(a.Key)) {
					t.Errorf("%s has the attribute %s, which the table does not", want.Name, a.Key)
				}
				if strings.Contains(a.Value.AsString(), "alice") {
					t.Errorf("%s says who: %s", want.Name, a.Value.AsString())
				}
			}
		}
		delete(found, want.Name)
	}
	for name := range found {
		t.Errorf("%s is not in the table", name)
	}
}

func attributesOf(m metricdata.Metrics) (sets []attribute.Set) {
	switch d := m.Data.(type) {
	case metricdata.Sum[int64]:
		for _, p := range d.DataPoints {
			sets = append(sets, p.Attributes)
		}
	case metricdata.Gauge[float64]:
		for _, p := range d.DataPoints {
			sets = append(sets, p.Attributes)
		}
	case metricdata.Histogram[float64]:
		for _, p := range d.DataPoints {
			sets = append(sets, p.Attributes)
		}
	}
	return sets
}
