package wording

import (
	"cmp"
	"fmt"
	"strings"

	"agent-stop-and-go/workflows/contract"
)

// Failure is the permanent failure of an activity.
type Failure struct {
	Kind    contract.Kind
	Message string
	// Lost means that the activity timed out or its worker died, so its progress is not known.
	Lost bool
	// Unrecorded means that nothing was sent because the audit log cannot be written.
	Unrecorded bool
}

// modelFailed begins every reply that reports a failed model.
const modelFailed = "LLM error: "

// ModelFailure returns the reply that reports a failed model call. The conversation stays
// usable.
func ModelFailure(f Failure) string {
	if f.Lost {
		return modelFailed + "the model did not answer in time."
	}
	return modelFailed + f.Message
}

// IsModelFailure reports whether a text says that a model failed, or that its output was of no use.
func IsModelFailure(text string) bool { return strings.HasPrefix(text, modelFailed) }

// FallbackNotice returns the notice that a fallback model is called.
func FallbackNotice(from, to string, f Failure) string {
	why := f.Message
	if f.Lost {
		why = "no answer in time"
	}
	return fmt.Sprintf("Model %s failed: %s. Asking %s instead.", from, strings.TrimSuffix(why, "."), to)
}

// MisfitFailure returns the reply if a model's output does not fit its schema even after a
// correction.
func MisfitFailure(problem string) string {
	return modelFailed + "the model's output does not fit its schema: " + problem
}

// RepairNotice returns the notice that a model is called again for an output that fits.
func RepairNotice(problem string) string {
	return "The output does not fit its schema: " + strings.TrimSuffix(problem, ".") + ". Asking once more."
}

const (
	shortened = "The conversation is longer than the model's window."
	cutOff    = "The answer is cut off: the model reached its limit for one reply."
)

// IsSummaryNotice reports whether a text is a SummaryNotice, perhaps behind the name of a node.
func IsSummaryNotice(text string) bool { return strings.Contains(text, shortened+" Of its first ") }

// IsCutOff reports whether a text is the notice that an answer reached the model's limit, perhaps behind the name of a
// node.
func IsCutOff(text string) bool { return strings.HasSuffix(text, cutOff) }

// SummaryNotice returns the notice that the model no longer sees the oldest messages. why is
// the reason if there is no new summary.
func SummaryNotice(d contract.Summary, why string) string {
	text := fmt.Sprintf(shortened+" Of its first %d messages the model sees ", d.Messages)
	switch {
	case !d.Text.IsZero() && why != "":
		return text + "the summary before, because there is no new one (" + why + "); here they stay as they are."
	case !d.Text.IsZero():
		return text + "a summary from now on; here they stay as they are."
	case why != "":
		return text + "nothing from now on, because there is no summary (" + why + "); here they stay as they are."
	}
	return text + "nothing from now on; here they stay as they are."
}

// CutOffNotice returns the notice that an answer is incomplete, or "".
func CutOffNotice(finish string) string {
	switch finish {
	case "", "stop", "tool_calls", "refusal":
		return ""
	case "length":
		return cutOff
	}
	return "The model stopped for a reason of its own (" + finish + "); the answer may be incomplete."
}

// ToolFailure returns the result of a tool call that failed permanently.
func ToolFailure(f Failure) contract.CallToolResult {
	text := "Tool execution failed: " + f.Message
	if f.Lost {
		text = "Tool execution failed: no answer in time."
	}
	return contract.CallToolResult{Text: contract.Inline(text), IsError: true}
}

// NotRepeated returns the result of a call that failed and is not repeated. lost means that it
// may have run. r is the decision about it.
func NotRepeated(f Failure, lost bool, r contract.ApprovalResult) contract.CallToolResult {
	if lost {
		return UnknownResult(f.Message, r)
	}
	return WithReason(ToolFailure(f), r)
}

// WithReason adds a person's reason for a rejection to the result of the call.
func WithReason(out contract.CallToolResult, r contract.ApprovalResult) contract.CallToolResult {
	if r.Decision == contract.Rejected && r.Reason != "" {
		out.Text.Inline = strings.TrimSuffix(out.Text.Inline, ".") + ". " + r.ReasonText()
	}
	return out
}

// UnknownResult returns the result of a call whose outcome remains unknown because a person
// decided not to repeat it, with the reason if there is one.
func UnknownResult(why string, r contract.ApprovalResult) contract.CallToolResult {
	text := "Outcome unknown: the call was sent and its answer was lost (" + why + "). It was not repeated."
	return WithReason(contract.CallToolResult{Text: contract.Inline(text), IsError: true}, r)
}

// RanResult returns the text of the result of a call whose answer was lost and that did run
// according to a person, who may have typed its result.
func RanResult(why string, r contract.ApprovalResult) string {
	text := fmt.Sprintf("The call was made and its answer was lost (%s). %s says that it did run", why, cmp.Or(r.ShownBy(), "A person"))
	if result := r.Resolution().Result; result != "" {
		return text + " and returned:\n\n" + result
	}
	return text + "; what it returned is not known."
}

// RepeatedNote returns the note on a result that the call was repeated.
func RepeatedNote(r contract.ApprovalResult) string {
	return fmt.Sprintf("The answer to a call before this one was lost, and %s had it made again.", cmp.Or(r.ShownBy(), "a person"))
}

// ExportFailure returns the problem of a conversation whose file is not up to date.
func ExportFailure(f Failure) string {
	return "The conversation file could not be written: " + f.Message
}
