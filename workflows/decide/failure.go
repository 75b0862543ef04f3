package decide

import "agent-stop-and-go/workflows/contract"

// Failure is what became of an activity that failed for good.
type Failure struct {
	Kind    contract.Kind
	Message string
	// Lost: the activity timed out or its worker died, so nobody knows how far
	// it came.
	Lost bool
}

// ModelFailure is the reply that reports a failed model call. The conversation
// stays usable.
func ModelFailure(f Failure) string {
	if f.Lost {
		return "LLM error: the model did not answer in time."
	}
	return "LLM error: " + f.Message
}

// ToolFailure is the result of a tool call that failed for good.
func ToolFailure(f Failure) contract.CallToolResult {
	text := "Tool execution failed: " + f.Message
	if f.Lost {
		text = "Tool execution failed: no answer in time."
	}
	return contract.CallToolResult{Text: contract.Inline(text), IsError: true}
}

// OutcomeUnknown tells whether a failed call may have happened all the same.
// Such a call goes to a human, never to a second attempt.
func OutcomeUnknown(c contract.Call, f Failure) bool {
	return c.Destructive && (f.Lost || f.Kind == contract.KindOutcomeUnknown)
}

// NotReached tells whether a destructive call certainly did not happen, because
// its server was not there.
func NotReached(c contract.Call, f Failure) bool {
	return c.Destructive && !f.Lost && f.Kind == contract.KindToolUnavailable
}

// NotRepeated is the result of a call that failed and is not to be repeated; lost
// means that nobody knows whether it happened.
func NotRepeated(f Failure, lost bool) contract.CallToolResult {
	if lost {
		return UnknownResult(f.Message)
	}
	return ToolFailure(f)
}

// UnknownResult is the result of a call whose outcome stays unknown because the
// human decided not to repeat it.
func UnknownResult(why string) contract.CallToolResult {
	return contract.CallToolResult{
		Text:    contract.Inline("Outcome unknown: the call was sent and its answer was lost (" + why + "). It was not repeated."),
		IsError: true,
	}
}
