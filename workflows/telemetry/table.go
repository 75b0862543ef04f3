package telemetry

import (
	"slices"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
)

// Scope is the name of the instrumentation.
const Scope = "agent-stop-and-go"

// Metric describes one metric.
type Metric struct {
	Name string
	Kind Kind
	// Unit is in the form of UCUM: s, By, {token}.
	Unit string
	Help string
	// Attributes are all that a value of the metric may have.
	Attributes []string
	// Buckets are the upper bounds of a histogram.
	Buckets []float64
}

// Kind is the kind of a metric's instrument.
type Kind string

// The kinds of instruments.
const (
	Counter   Kind = "counter"
	Gauge     Kind = "gauge"
	Histogram Kind = "histogram"
)

// The attributes. Those that start with gen_ai, http and error are of the semantic conventions.
const (
	attrAgent        = "gen_ai.agent.name"
	attrOperation    = "gen_ai.operation.name"
	attrProvider     = "gen_ai.provider.name"
	attrRequestModel = "gen_ai.request.model"
	attrModel        = "gen_ai.response.model"
	attrTokenType    = "gen_ai.token.type"
	attrTool         = "gen_ai.tool.name"
	attrServer       = "agent.tool.server"
	attrError        = "error.type"
	attrOutcome      = "agent.outcome"
	attrReason       = "agent.approval.reason"
	attrDecision     = "agent.approval.decision"
	attrActivity     = "agent.activity"
	attrBlob         = "agent.blob.operation"
	attrFeed         = "agent.feed.kind"
	attrWitness      = "agent.audit.witness"
	attrMethod       = "http.request.method"
	attrRoute        = "http.route"
	attrStatus       = "http.response.status_code"
)

// The bounds of histograms. Those of models are of the semantic conventions.
var (
	ofModels    = []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	ofTokens    = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
	ofTurns     = []float64{0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600}
	ofRequests  = []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60}
	ofDecisions = []float64{1, 10, 60, 300, 900, 3600, 14400, 86400, 259200, 604800, 2592000}
	ofStores    = []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5}
	ofHistories = []float64{65536, 262144, 1048576, 4194304, 10485760, 20971520, 52428800}
)

var (
	meter = otel.Meter(Scope)
	table []Metric
)

// Table returns all metrics except those of the Temporal SDK.
func Table() []Metric { return slices.Clone(table) }

var (
	tokens = histogram(Metric{Name: "gen_ai.client.token.usage", Unit: "{token}", Buckets: ofTokens,
		Help:       "Tokens of a model call, by input and output.",
		Attributes: []string{attrOperation, attrProvider, attrRequestModel, attrModel, attrTokenType}})
	modelTime = histogram(Metric{Name: "gen_ai.client.operation.duration", Unit: "s", Buckets: ofModels,
		Help:       "Time of a model call, successful or not.",
		Attributes: []string{attrOperation, attrProvider, attrRequestModel, attrModel, attrError}})
	firstChunk = histogram(Metric{Name: "gen_ai.client.operation.time_to_first_chunk", Unit: "s", Buckets: ofModels,
		Help:       "Time until a model's first piece of a reply, if somebody follows the reply.",
		Attributes: []string{attrOperation, attrProvider, attrRequestModel, attrModel}})
	agentTime = histogram(Metric{Name: "gen_ai.invoke_agent.duration", Unit: "s", Buckets: ofTurns,
		Help:       "Working time of a turn, without the time that it waits for people.",
		Attributes: []string{attrOperation, attrAgent, attrOutcome}})
	toolTime = histogram(Metric{Name: "gen_ai.execute_tool.duration", Unit: "s", Buckets: ofModels,
		Help:       "Time of a tool call, successful or not.",
		Attributes: []string{attrOperation, attrTool, attrServer, attrError}})

	turns = counter(Metric{Name: "agent.turns", Unit: "{turn}",
		Help: "Turns that have ended.", Attributes: []string{attrAgent, attrOutcome}})
	histories = histogram(Metric{Name: "agent.history.size", Unit: "By", Buckets: ofHistories,
		Help: "Size of the workflow history of a conversation at the end of a turn.", Attributes: []string{attrAgent}})
	opened = counter(Metric{Name: "agent.approvals.opened", Unit: "{approval}",
		Help: "Approvals that were asked for. The reason unknown_outcome counts calls whose outcome is not known.", Attributes: []string{attrAgent, attrReason}})
	decisions = histogram(Metric{Name: "agent.approval.duration", Unit: "s", Buckets: ofDecisions,
		Help: "Time from the question to its decision: approved, rejected, expired or cancelled.", Attributes: []string{attrAgent, attrReason, attrDecision}})
	failures = counter(Metric{Name: "agent.failures", Unit: "{failure}",
		Help: "Failed attempts of activities, by kind.", Attributes: []string{attrActivity, attrError}})
	readers = upDown(Metric{Name: "agent.event.readers", Unit: "{reader}",
		Help: "Streams that follow a conversation."})
	blobTime = histogram(Metric{Name: "agent.blob.duration", Unit: "s", Buckets: ofStores,
		Help: "Time of an operation of the blob store.", Attributes: []string{attrBlob, attrError}})
	requests = histogram(Metric{Name: "http.server.request.duration", Unit: "s", Buckets: ofRequests,
		Help: "Time of an HTTP request to the gateway, streams included.", Attributes: []string{attrMethod, attrRoute, attrStatus}})

	waiting = observed(Metric{Name: "agent.approvals.open", Unit: "{approval}",
		Help: "Approvals that wait for a decision. Every gateway reports all of them.", Attributes: []string{attrAgent, attrReason}})
	oldest = observed(Metric{Name: "agent.approvals.oldest.age", Unit: "s",
		Help: "Age of the oldest approval that waits.", Attributes: []string{attrAgent, attrReason}})
	stuck = observed(Metric{Name: "agent.workflows.stuck", Unit: "{workflow}",
		Help: "Workflows whose task has failed five times or more without success. Every gateway reports all of them."})
	unread = observed(Metric{Name: "agent.survey.failed", Unit: "{survey}",
		Help: "1 if the waiting approvals and stuck workflows could not be read from Temporal, else 0."})
	unsigned = observed(Metric{Name: "agent.audit.unsigned", Unit: "{event}",
		Help: "Events of the audit log that a witness with a URL has not signed. Every gateway reports all witnesses.", Attributes: []string{attrWitness}})
	failing = observed(Metric{Name: "agent.audit.unsigned.age", Unit: "s",
		Help: "Time since when a witness has failed to sign; 0 if it has not failed.", Attributes: []string{attrWitness}})
	feedReady = observed(Metric{Name: "agent.feed.ready", Unit: "{feed}",
		Help: "1 if events reach readers at once, else 0: they are then read from Temporal.", Attributes: []string{attrFeed}})
)

// add enters a metric into the table. An instrument without an error is a matter of its name and
// unit, which tests check.
func add(m Metric, k Kind) Metric {
	m.Kind = k
	table = append(table, m)
	return m
}

func counter(m Metric) metric.Int64Counter {
	m = add(m, Counter)
	c, err := meter.Int64Counter(m.Name, metric.WithUnit(m.Unit), metric.WithDescription(m.Help))
	return must(c, err)
}

func upDown(m Metric) metric.Int64UpDownCounter {
	m = add(m, Gauge)
	c, err := meter.Int64UpDownCounter(m.Name, metric.WithUnit(m.Unit), metric.WithDescription(m.Help))
	return must(c, err)
}

func histogram(m Metric) metric.Float64Histogram {
	m = add(m, Histogram)
	h, err := meter.Float64Histogram(m.Name, metric.WithUnit(m.Unit), metric.WithDescription(m.Help),
		metric.WithExplicitBucketBoundaries(m.Buckets...))
	return must(h, err)
}

func observed(m Metric) metric.Float64ObservableGauge {
	m = add(m, Gauge)
	g, err := meter.Float64ObservableGauge(m.Name, metric.WithUnit(m.Unit), metric.WithDescription(m.Help))
	return must(g, err)
}

// must panics for an instrument with a malformed name, which no build with tests has.
func must[I any](instrument I, err error) I {
	if err != nil {
		panic(err)
	}
	return instrument
}
