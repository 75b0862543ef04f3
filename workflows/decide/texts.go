package decide

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/answer"
)

// Texts that clients match on.
const (
	TextCancelledByUser = "Operation cancelled by user."
	TextRoundLimit      = "Maximum tool call iterations reached."
	TextWaiting         = "Conversation is waiting for approval. Please respond to the pending approval first."
	TextCompleted       = "Conversation is completed."
	TextExpired         = "The approval expired; nothing was done."
	TextTurnCancelled   = "The turn was cancelled."
	TextNothingRunning  = "Nothing is running."
	TextClosed          = "Conversation closed."
	TextStopped         = "Stopped."
	TextWithdrawn       = "The approval was withdrawn; nothing was done."
	TextExitLoop        = "exit_loop called"
	TextLoopLeft        = "The loop ends here."
	TextAnswered        = "The question has an answer already."
	TextLongAnswer      = "The answer is too long for a question."
	TextTooLong         = "the conversation does not fit the model's window."
	TextNoOutput        = "No node of the agent had anything to say."
)

// ToolNotFound is the result of a call to a tool that is not on offer.
func ToolNotFound(name string) string { return "Tool not found: " + name }

// AuthRequired is the reply when a tool server wants the caller to log in.
func AuthRequired(server string) string {
	return fmt.Sprintf("Authentication required to access the %s server.", server)
}

// ApprovalRequest is the message that asks for an approval. Inside a tree it has
// the shorter ending that clients of trees know.
func ApprovalRequest(description, uuid string, inTree bool) string {
	ending := "Please approve or reject using the approval UUID: "
	if inTree {
		ending = "Approval UUID: "
	}
	return "This action requires approval:\n\n" + description + "\n\n" + ending + uuid
}

// DescribeQuestion tells a human what a tool server wants to know.
func DescribeQuestion(server, tool, message string) string {
	return fmt.Sprintf("The tool server %s asks while it carries out %s:\n\n%s", server, tool, message)
}

// RequestText is the message that asks for an approval, or for the answer to a
// question.
func RequestText(p contract.PendingApproval, inTree bool) string {
	how := "Answer by the approval UUID: "
	switch {
	case p.Question():
		how = "Answer with a message or by the approval UUID: "
	case p.Reason == contract.ReasonClientTool:
		return p.Description + "\n\nApproval UUID: " + p.UUID
	case !p.Answered():
		return ApprovalRequest(p.Description, p.UUID, inTree)
	}
	return p.Description + "\n\n" + how + accepted(p) + ".\n\nApproval UUID: " + p.UUID
}

// accepted says what answers a question accepts.
func accepted(p contract.PendingApproval) string {
	if p.Accepts != "" {
		return p.Accepts
	}
	return answer.AcceptedBy(p.Schema.Raw)
}

// EmptyPlaceholders tells people that a prompt has placeholders without a value.
func EmptyPlaceholders(keys []string) string {
	return fmt.Sprintf("{%s} is empty in the prompt: no node before this one has left a value.", strings.Join(keys, "}, {"))
}

// Marker is the message that records a decision.
func Marker(p contract.PendingApproval, d contract.Decision) string {
	mark := "[ANSWER]: "
	switch {
	case !p.Answered():
		return ApprovalMarker(d)
	case p.Reason == contract.ReasonClientTool:
		mark = "[CLIENT TOOL]: "
	}
	switch d {
	case contract.Approved:
		return mark + "Accepted"
	case contract.Rejected:
		return mark + "Declined"
	}
	return mark + capital(string(d))
}

// DescribeClientTool tells people that the sender of the message has to make a call.
func DescribeClientTool(c contract.Call, node string) string {
	return "Waiting for the client to make this call and to send its result:\n\n" + Describe(c, node)
}

// ClientToolRefused is the result of a call that the client did not make.
func ClientToolRefused(d contract.Decision, why string) contract.CallToolResult {
	text := "The client did not make the call (" + string(d) + ")"
	if why != "" {
		text += ": " + why
	}
	return contract.CallToolResult{Text: contract.Inline(text), IsError: true}
}

// TurnCancelled is the reply of a turn that was cancelled.
func TurnCancelled(why string) string {
	return strings.TrimSpace(TextTurnCancelled + " " + why)
}

// ApprovalMarker is the message that records a decision.
func ApprovalMarker(d contract.Decision) string { return "[APPROVAL]: " + capital(string(d)) }

func capital(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// AfterRefusal is the reply that ends a turn whose call was not approved. It says why a
// person has rejected it.
func AfterRefusal(r contract.ApprovalResult) string {
	switch r.Decision {
	case contract.Expired:
		return TextExpired
	case contract.Cancelled:
		return TextWithdrawn
	}
	return strings.TrimSpace(TextCancelledByUser + " " + r.ReasonText())
}

// ApprovedInVain says that calls were approved and do not run, because another call of
// their reply was decided otherwise.
func ApprovedInVain(calls []contract.Call, d contract.Decision) string {
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

// Describe says in markdown what a call would do, for the human who decides. node
// is the name of a node in a tree, and empty for an agent that is one node.
func Describe(c contract.Call, node string) string {
	args := arguments(c.Arguments)
	switch {
	case c.Peer != nil:
		return describeDelegation(c, node, args)
	case c.Arguments.Blob != nil: // too large to read here: shown by its beginning
	case c.Name == "resources_add":
		return fmt.Sprintf("**ADD Resource**\n\nName: %s\nValue: %s", value(args["name"]), value(args["value"]))
	case c.Name == "resources_remove":
		return describeRemove(args)
	}
	return fmt.Sprintf("**%s**\n\nArgs: %s", strings.ToUpper(c.Name), indented(c.Arguments))
}

// describeRemove shows the id and the pattern where both are given: the tool
// removes what either of them fits.
func describeRemove(args map[string]any) string {
	id, pattern := args["id"], args["pattern"]
	switch {
	case !given(pattern) && !given(id):
		return "**REMOVE Resource**\n\nArgs: {}"
	case !given(pattern):
		return "**REMOVE Resource**\n\nID: " + value(id)
	}
	text := "**REMOVE Resources**\n\n"
	if given(id) {
		text += "ID: " + value(id) + "\n"
	}
	return text + "Pattern: " + value(pattern) + "\n\n⚠️ This will remove all resources matching the pattern."
}

func given(v any) bool { return v != nil && v != "" }

// DescribeUnknown asks what to do about a call whose answer was lost.
func DescribeUnknown(c contract.Call, node, why string) string {
	return fmt.Sprintf("**OUTCOME UNKNOWN: %s**\n\n%s\n\nThe call was sent and its answer was lost (%s). It may or may not "+
		"have happened. Approve to call it again, reject to go on without it.", c.Name, Describe(c, node), why)
}

// DescribeUnknownAnswer asks what to do about an approval that another agent may not
// have heard of. request is what was approved.
func DescribeUnknownAnswer(agent, request, why string) string {
	return fmt.Sprintf("**OUTCOME UNKNOWN: approval told to A2A agent %s**\n\n%s\n\nThe approval was sent and its answer was lost (%s). "+
		"The agent may or may not have gone on. Approve to tell it again, reject to go on without it.", agent, request, why)
}

// DescribeNotReached asks what to do about a call that did not reach its server.
func DescribeNotReached(c contract.Call, node, why string) string {
	return fmt.Sprintf("**NOT REACHED: %s**\n\n%s\n\nThe call did not happen: its server could not be reached (%s). "+
		"Approve to try again, reject to go on without it.", c.Name, Describe(c, node), why)
}

func arguments(j contract.JSON) map[string]any {
	dec := json.NewDecoder(bytes.NewReader(j.Raw))
	dec.UseNumber()
	var args map[string]any
	if dec.Decode(&args) != nil {
		return nil
	}
	return args
}

func value(v any) string {
	switch v := v.(type) {
	case nil:
		return "<nil>"
	case string:
		return v
	case json.Number:
		return v.String()
	}
	data, err := json.Marshal(v)
	if err != nil { // decoded JSON can be encoded
		return fmt.Sprint(v)
	}
	return string(data)
}

func indented(j contract.JSON) string {
	if j.Blob != nil {
		return contract.Text{Blob: j.Blob}.Short()
	}
	var buf bytes.Buffer
	if len(j.Raw) == 0 || json.Indent(&buf, j.Raw, "", "  ") != nil {
		return "{}"
	}
	return buf.String()
}
