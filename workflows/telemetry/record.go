package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"agent-stop-and-go/workflows/contract"
)

// ModelCall is one call of a model.
type ModelCall struct {
	Provider contract.Provider
	// Model is the name in the configuration, Answered the provider's name of the model that
	// has answered.
	Model, Answered string
	Took            time.Duration
	// First is the time until the first piece; 0 if nobody followed the reply.
	First   time.Duration
	Usage   contract.Usage
	Failure contract.Kind
}

// Record records the call.
func (c ModelCall) Record(ctx context.Context) {
	if !modelTime.Enabled(ctx) {
		return
	}
	base := []attribute.KeyValue{
		attribute.String(attrOperation, "chat"), attribute.String(attrProvider, string(c.Provider)),
		attribute.String(attrRequestModel, modelNames.of(c.Model)),
	}
	if c.Answered != "" {
		base = append(base, attribute.String(attrModel, modelNames.of(c.Answered)))
	}
	if c.Failure != "" {
		modelTime.Record(ctx, c.Took.Seconds(), metric.WithAttributes(append(base, attribute.String(attrError, string(c.Failure)))...))
		return
	}
	modelTime.Record(ctx, c.Took.Seconds(), metric.WithAttributes(base...))
	if c.First > 0 {
		firstChunk.Record(ctx, c.First.Seconds(), metric.WithAttributes(base...))
	}
	for kind, n := range map[string]int64{"input": c.Usage.InputTokens, "output": c.Usage.OutputTokens} {
		if n > 0 {
			tokens.Record(ctx, float64(n), metric.WithAttributes(append(base, attribute.String(attrTokenType, kind))...))
		}
	}
}

// ToolCall records a call of a tool; failure is empty for one that was answered.
func ToolCall(ctx context.Context, server, tool string, took time.Duration, failure contract.Kind) {
	if !toolTime.Enabled(ctx) {
		return
	}
	a := []attribute.KeyValue{
		attribute.String(attrOperation, "execute_tool"),
		attribute.String(attrServer, serverNames.of(server)), attribute.String(attrTool, toolNames.of(tool)),
	}
	toolTime.Record(ctx, took.Seconds(), metric.WithAttributes(withError(a, failure)...))
}

// LogFailure is the message of the line about a failed attempt of an activity.
const LogFailure = "attempt failed"

// Failure counts a failed attempt of an activity.
func Failure(ctx context.Context, activity string, kind contract.Kind) {
	failures.Add(ctx, 1, metric.WithAttributes(attribute.String(attrActivity, activity), attribute.String(attrError, string(kind))))
}

// Readers adds to the number of streams that follow conversations.
func Readers(n int64) { readers.Add(context.Background(), n) }

// Blob records an operation of the blob store.
func Blob(ctx context.Context, operation string, took time.Duration, failed bool) {
	if !blobTime.Enabled(ctx) {
		return
	}
	var failure contract.Kind
	if failed {
		failure = contract.KindBlob
	}
	blobTime.Record(ctx, took.Seconds(), metric.WithAttributes(withError([]attribute.KeyValue{attribute.String(attrBlob, operation)}, failure)...))
}

// Request records an HTTP request. route is the pattern that it matched.
func Request(ctx context.Context, method, route string, status int, took time.Duration) {
	if !requests.Enabled(ctx) {
		return
	}
	requests.Record(ctx, took.Seconds(), metric.WithAttributes(
		attribute.String(attrMethod, methodOf(method)), attribute.String(attrRoute, route), attribute.Int(attrStatus, status)))
}

// methodOf returns a method of HTTP, or _OTHER, as the semantic conventions have it.
func methodOf(method string) string {
	switch method {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS":
		return method
	}
	return "_OTHER"
}

func withError(a []attribute.KeyValue, failure contract.Kind) []attribute.KeyValue {
	if failure == "" {
		return a
	}
	return append(a, attribute.String(attrError, string(failure)))
}
