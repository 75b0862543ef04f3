package wording

import (
	"fmt"

	"agent-stop-and-go/workflows/contract"
)

// Lines the Web UI shows for activities and timers.
const (
	SummaryListTools        = "what is on offer"
	SummaryClientResult     = "result of a client tool"
	SummaryOffload          = "older messages"
	SummaryExport           = "conversation file"
	SummaryReadAnswer       = "answer to a question"
	SummaryTimeLimit        = "time limit"
	SummaryNextReport       = "until the next report"
	SummaryNextRegistration = "until the switches are asked again"
	SummaryNextCall         = "until the server is called again"
	SummaryNextFollow       = "until the conversation is asked again"
	SummaryPushEnd          = "until the webhooks are forgotten"
	SummaryResetRest        = "end what the run before the reset has left"
	SummaryResetChild       = "cancel what the run before the reset has started"
)

// SummarizeSummary returns the line for the making of a summary.
func SummarizeSummary(in contract.SummarizeInput, node string) string {
	summary := fmt.Sprintf("%s · digest of %d messages", in.Model, in.Wanted.Messages)
	if node != "" {
		summary = node + " · " + summary
	}
	return summary
}

// GenerateSummary returns the line for a model call of a node.
func GenerateSummary(in contract.GenerateInput, node string) string {
	n := in.Transcript.Len()
	if in.Before != nil {
		n += in.Before.Len()
	}
	summary := fmt.Sprintf("%s · %d messages", in.Model, n)
	if node != "" {
		summary = node + " · " + summary
	}
	return summary
}

// ToolSummary returns the line for a tool call.
func ToolSummary(tool, server string) string {
	if server == "" {
		return tool
	}
	return tool + " on " + server
}

// ApprovalSummary returns the line for an approval.
func ApprovalSummary(in contract.ApprovalInput) string {
	switch {
	case in.Pending().Paused():
		return ToolSummary(in.Tool, in.Server) + " is paused"
	case in.Pending().NeedsLogin():
		return ToolSummary(in.Tool, in.Server) + " waits for a login"
	case in.Answered():
		return ToolSummary(in.Tool, in.Server) + " waits for an answer"
	}
	return ToolSummary(in.Tool, in.Server) + " waits for an approval"
}

// MessageSummary returns the line for composing the message of a delegation.
func MessageSummary(peer string) string { return "message to " + peer }

// TextSummary returns the line for composing a long text of a node.
func TextSummary(node string) string { return "text of " + node }

// OutputsSummary returns the line for joining the outputs of parallel nodes.
func OutputsSummary(node string) string { return "outputs of " + node }

// WorkTimerSummary returns the line for the timer until a working task of another agent is
// polled.
func WorkTimerSummary(peer string) string { return "until " + peer + " is asked how its task is" }

// WatchTimerSummary returns the line for the timer until a task that waits for a decision is
// polled.
func WatchTimerSummary(peer string) string {
	return "until " + peer + " is asked whether it still waits"
}
