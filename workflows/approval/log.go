package approval

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/telemetry"
)

// LogDecision logs the end of an approval, once: not in replays.
func LogDecision(ctx workflow.Context, in contract.ApprovalInput, r contract.ApprovalResult) {
	workflow.GetLogger(ctx).Info(contract.LogDecision,
		"uuid", in.UUID, "conversation", in.ConversationID, "agent", shortName(in.AgentName), "tool", shortName(in.Tool), "server", shortName(in.Server),
		"decision", r.Decision, "by", shortName(r.By), "via", shortName(r.Via), "reason", r.Reason != "",
		"sid", shortName(in.SessionID), "caller", r.Identity.Key(), "trace", telemetry.WorkflowTraceID(ctx))
}

// shortName cuts a name from outside to fit a log line.
func shortName(name string) string { return fmt.Sprintf("%.100s", name) }
