package telemetry

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"

	"go.opentelemetry.io/otel/trace"
)

// IDs makes the IDs of spans. The spans of turns have IDs that follow from the workflow: what is
// called during a turn names its span as parent before the span ends and is exported, and after
// a crash another worker names the same. Every other ID is random.
type IDs struct{}

type givenKey struct{}

// withID makes the next span of ctx have the IDs of c.
func withID(ctx context.Context, c trace.SpanContext) context.Context {
	return context.WithValue(ctx, givenKey{}, c)
}

// NewIDs returns the IDs of a span without a parent.
func (g IDs) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	if c, given := ctx.Value(givenKey{}).(trace.SpanContext); given {
		return c.TraceID(), c.SpanID()
	}
	var id trace.TraceID
	_, _ = rand.Read(id[:]) // never fails, see crypto/rand.Read
	return id, g.NewSpanID(ctx, id)
}

// NewSpanID returns the ID of a span with a parent.
func (IDs) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	if c, given := ctx.Value(givenKey{}).(trace.SpanContext); given {
		return c.SpanID()
	}
	var id trace.SpanID
	_, _ = rand.Read(id[:])
	return id
}

// spanOf returns the context of a span of a turn, below parent or at the root of a trace.
func spanOf(parent trace.SpanContext, run string, turn, part int) trace.SpanContext {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %d %d", parent.TraceID(), run, turn, part))
	c := trace.SpanContextConfig{TraceID: parent.TraceID(), TraceFlags: parent.TraceFlags(), Remote: true}
	if !parent.IsValid() {
		root := sha256.Sum256(fmt.Appendf(nil, "%s %d", run, turn))
		c.TraceID, c.TraceFlags = trace.TraceID(root[:16]), trace.FlagsSampled
	}
	c.SpanID = trace.SpanID(sum[:8])
	return trace.NewSpanContext(c)
}
