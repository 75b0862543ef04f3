package wording

import (
	"fmt"
	"strings"

	"agent-stop-and-go/workflows/contract"
)

// DescribeUnknown asks what to do about a call whose answer was lost. request describes
// the call.
func DescribeUnknown(tool, request, why string) string {
	return fmt.Sprintf("**OUTCOME UNKNOWN: %s**\n\n%s\n\nThe call was sent and its answer was lost (%s). It may or may not "+
		"have happened. %s", quotedName(tool), request, inParentheses(why), threeAnswers)
}

// threeAnswers lists the possible answers about a call of unknown outcome.
const threeAnswers = "If it did not happen, approve to call it now. If it did, answer \"ran\", or " +
	`{"content":{"outcome":"ran","result":"what it returned"}}` + ". Reject to go on without it."

// DescribeUnknownAnswer asks what to do about an approval that another agent may not have
// received. request is what was approved.
func DescribeUnknownAnswer(agent, request, why string) string {
	return fmt.Sprintf("**OUTCOME UNKNOWN: approval told to A2A agent %s**\n\n%s\n\nThe approval was sent and its answer was lost (%s). "+
		"The agent may or may not have gone on. If it did not hear of it, approve to tell it again. If it did, answer \"ran\". "+
		"Reject to go on without it.", agent, request, inParentheses(why))
}

// DescribeUndelivered asks again for an approval that another agent did not receive.
func DescribeUndelivered(agent, request, why string) string {
	return fmt.Sprintf("**NOT TOLD: approval for A2A agent %s**\n\nIt was approved, and the agent could not be told (%s). Nothing has come of it. "+
		"Approve to tell it now, reject to have it told that it was rejected.\n\n%s", agent, inParentheses(strings.TrimSuffix(why, ".")), request)
}

// DescribeRepeatedQuestion asks again for an approval that another agent has received: it asks the
// same, or does not know yet what it was answered.
func DescribeRepeatedQuestion(agent, request string) string {
	return fmt.Sprintf("**ASKED AGAIN: A2A agent %s**\n\nThe agent asks what was approved before. If it still carries out that approval, it may do the same twice. "+
		"Approve to have it do this now, reject to have it told that it was rejected.\n\n%s", agent, request)
}

// DescribeChanged asks what to do about an approved call whose server or tool has changed.
func DescribeChanged(c contract.Call, node, difference string) string {
	return fmt.Sprintf("**CHANGED SINCE IT WAS APPROVED: %s**\n\n%s\n\n%s\n\nThe call was not made. "+
		"Approve to make it as it is now, reject to go on without it.", quotedName(c.Name), Describe(c, node), difference)
}

// DescribeNotReached asks what to do about a call that did not reach its server. request
// describes the call.
func DescribeNotReached(tool, request, why string) string {
	return fmt.Sprintf("**NOT REACHED: %s**\n\n%s\n\nThe call did not happen: its server could not be reached (%s). "+
		"Approve to try again, reject to go on without it.", quotedName(tool), request, inParentheses(why))
}
