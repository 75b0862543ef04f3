package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
)

// recordTurn records the end of a turn and the size of its history.
func recordTurn(ctx workflow.Context, agent string, o contract.Outcome, worked time.Duration) {
	if workflow.IsReplaying(ctx) || !agentTime.Enabled(context.Background()) {
		return
	}
	name, outcome := attribute.String(attrAgent, agentNames.of(agent)), attribute.String(attrOutcome, string(o))
	background := context.Background()
	turns.Add(background, 1, metric.WithAttributes(name, outcome))
	agentTime.Record(background, worked.Seconds(), metric.WithAttributes(attribute.String(attrOperation, "invoke_agent"), name, outcome))
	histories.Record(background, float64(workflow.GetInfo(ctx).GetCurrentHistorySize()), metric.WithAttributes(name))
}

// ApprovalOpened counts an approval.
func ApprovalOpened(ctx workflow.Context, in contract.ApprovalInput) {
	if workflow.IsReplaying(ctx) {
		return
	}
	opened.Add(context.Background(), 1, metric.WithAttributes(ofApproval(in)...))
}

// ApprovalClosed records the time that an approval has waited.
func ApprovalClosed(ctx workflow.Context, in contract.ApprovalInput, r contract.ApprovalResult) {
	if workflow.IsReplaying(ctx) {
		return
	}
	decisions.Record(context.Background(), r.DecidedAt.Sub(r.RequestedAt).Seconds(),
		metric.WithAttributes(append(ofApproval(in), attribute.String(attrDecision, string(r.Decision)))...))
}

func ofApproval(in contract.ApprovalInput) []attribute.KeyValue {
	return []attribute.KeyValue{attribute.String(attrAgent, agentNames.of(in.AgentName)), attribute.String(attrReason, string(in.Reason))}
}
