package wording

import (
	"fmt"
	"strings"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/verdict"
)

// Texts that clients match on.
const (
	TextCancelledByUser = "Operation cancelled by user."
	// TextCancelledByRules is followed by the rule.
	TextCancelledByRules = "Operation cancelled: the agent's rules have changed."
	TextRoundLimit       = "Maximum tool call iterations reached."
	TextWaiting          = "Conversation is waiting for approval. Please respond to the pending approval first."
	TextCompleted        = "Conversation is completed."
	TextExpired          = "The approval expired; nothing was done."
	TextTurnCancelled    = "The turn was cancelled."
	TextNothingRunning   = "Nothing is running."
	TextClosed           = "Conversation closed."
	TextStopped          = "Stopped."
	TextWithdrawn        = "The approval was withdrawn; nothing was done."
	TextExitLoop         = "exit_loop called"
	TextLoopLeft         = "The loop ends here."
	TextAnswered         = "The question has an answer already."
	TextLongAnswer       = "The answer is too long for a question."
	TextTooLong          = "the conversation does not fit the model's window."
	TextNoOutput         = "No node of the agent had anything to say."
)

// ToolNotFound returns the result of a call to a tool that is not on offer.
func ToolNotFound(name string) string { return "Tool not found: " + name }

// AuthRequired returns the reply if a tool server requires the caller to log in.
func AuthRequired(server string) string {
	return fmt.Sprintf("Authentication required to access the %s server.", server)
}

// EmptyPlaceholders returns the notice that a prompt has placeholders without a value.
func EmptyPlaceholders(keys []string) string {
	return fmt.Sprintf("{%s} is empty in the prompt: no node before this one has left a value.", strings.Join(keys, "}, {"))
}

// ClientToolRefused returns the result of a call that the client did not execute.
func ClientToolRefused(d contract.Decision, why string) contract.CallToolResult {
	text := "The client did not make the call (" + string(d) + ")"
	if why != "" {
		text += ": " + why
	}
	return contract.CallToolResult{Text: contract.Inline(text), IsError: true}
}

// TurnCancelled returns the reply of a cancelled turn.
func TurnCancelled(why string) string {
	return strings.TrimSpace(TextTurnCancelled + " " + why)
}

func capital(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// AfterRefusal returns the reply that ends a turn whose call was not approved, with the
// person's reason.
func AfterRefusal(r contract.ApprovalResult) string {
	switch r.Decision {
	case contract.Expired:
		return TextExpired
	case contract.Cancelled:
		return TextWithdrawn
	}
	if r.Via == verdict.Via {
		return strings.TrimSpace(TextCancelledByRules + " " + r.ReasonText())
	}
	return strings.TrimSpace(TextCancelledByUser + " " + r.ReasonText())
}

// UnusedApprovals returns the notice that approved calls do not run because another call of
// their reply was not approved.
func UnusedApprovals(calls []contract.Call, d contract.Decision) string {
	if len(calls) == 0 {
		return ""
	}
	why := "another call of the same reply was rejected"
	switch d {
	case contract.Expired:
		why = "the approval of another call of the same reply expired"
	case contract.Cancelled:
		why = "the approval of another call of the same reply was withdrawn"
	}
	names := make([]string, len(calls))
	for i, c := range calls {
		names[i] = c.Name
	}
	return fmt.Sprintf("Approved but not run, because %s: %s.", why, strings.Join(names, ", "))
}
