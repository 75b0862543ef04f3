package wording

import (
	"fmt"
	"strings"

	"agent-stop-and-go/workflows/answer"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/reminder"
)

// ApprovalRequest returns the message that asks for an approval. Inside a tree it has the
// shorter ending that clients of trees expect.
func ApprovalRequest(description, uuid string, inTree bool) string {
	ending := "Please approve or reject using the approval UUID: "
	if inTree {
		ending = "Approval UUID: "
	}
	return "This action requires approval:\n\n" + description + "\n\n" + ending + uuid
}

// DescribeQuestion describes a question of a tool server. message is set apart.
func DescribeQuestion(server, tool, message string) string {
	return fmt.Sprintf("The tool server %s asks while it carries out %s:\n\n%s", server, quotedName(tool), message)
}

// RequestText returns the message that asks for an approval, or for the answer to a question.
func RequestText(p contract.PendingApproval, inTree bool) string {
	how := "Answer by the approval UUID: "
	switch {
	case p.Question():
		how = "Answer with a message or by the approval UUID: "
	case p.Reason == contract.ReasonClientTool:
		return p.Description + "\n\nApproval UUID: " + p.UUID
	case p.Reason == contract.ReasonPaused, p.Reason == contract.ReasonLogin:
		return p.Description + "\n\nApproval UUID: " + p.UUID
	case !p.Answered():
		return ApprovalRequest(p.Description, p.UUID, inTree)
	}
	return p.Description + "\n\n" + how + accepted(p) + ".\n\nApproval UUID: " + p.UUID
}

// accepted describes the accepted answers to a question.
func accepted(p contract.PendingApproval) string {
	if p.Accepts != "" {
		return p.Accepts
	}
	return answer.AcceptedBy(p.Schema.Raw)
}

const clientToolMark = "[CLIENT TOOL]: "

// IsClientToolMarker reports whether a text is the Marker of a call that the client makes.
func IsClientToolMarker(text string) bool { return strings.HasPrefix(text, clientToolMark) }

// Marker returns the message that records a decision, with the reason and the answer.
func Marker(p contract.PendingApproval, r contract.ApprovalResult) string {
	mark, d := "[ANSWER]: ", r.Decision
	switch {
	case p.Reason == contract.ReasonPaused:
		return pausedMarker(r)
	case p.Reason == contract.ReasonLogin:
		return loginMarker(r)
	case r.Revision != nil && r.Revision.Released:
		return releasedMarker(r)
	case d == contract.Approved && r.Outcome == contract.OutcomeRan:
		return "[APPROVAL]: Not needed, it did run"
	case r.Revision != nil && d == contract.Approved:
		return ApprovalMarker(d) + "\n\n" + Changed(r)
	case !p.Answered():
		return ApprovalMarker(d) + givenMarker(r)
	case p.Reason == contract.ReasonClientTool:
		mark = clientToolMark
	}
	switch d {
	case contract.Approved:
		return mark + "Accepted"
	case contract.Rejected:
		return mark + "Declined"
	}
	return mark + capital(string(d))
}

// Reminder is the notice that an approval still waits.
func Reminder(r reminder.Reminder) string {
	return fmt.Sprintf("Reminder %d of %d: %s still waits for a decision, since %s.", r.Number, r.Of, quotedName(r.Tool), stamp(r.Since))
}

// DescribeClientTool returns the description of a call that the sender of the message has to
// execute.
func DescribeClientTool(description string) string {
	return "Waiting for the client to make this call and to send its result:\n\n" + description
}

// ApprovalMarker returns the message that records a decision.
func ApprovalMarker(d contract.Decision) string { return "[APPROVAL]: " + capital(string(d)) }
