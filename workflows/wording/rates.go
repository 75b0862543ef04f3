package wording

import (
	"fmt"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/rates"
)

// RateResult returns the result of a call that a rate limit keeps from running.
func RateResult(r rates.Refusal) contract.CallToolResult {
	return contract.CallToolResult{Text: contract.Inline("The call did not run: " + r.Text() + "."), IsError: true}
}

// RateWait returns the notice that a call waits for a rate limit.
func RateWait(tool string, r rates.Refusal) string {
	return fmt.Sprintf("%s waits: %s. It goes on by itself then; cancel the turn to go on without it.", quotedName(tool), r.Text())
}

// RateWaitSummary is the summary of the timer of a call that waits for a rate limit.
func RateWaitSummary(r rates.Refusal) string {
	return "the rate limit " + quotedName(r.Limit.Name) + " lets the call run"
}

// RateRequest is added to the description of a call that needs an approval because of a rate limit.
func RateRequest(r rates.Refusal) string {
	return fmt.Sprintf("Asked because %s. The call has not been made. Approve to let it run all the same.", r.Text())
}
