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

// DescribeQuestion tells a human what a tool server wants to know. message is set apart.
func DescribeQuestion(server, tool, message string) string {
	return fmt.Sprintf("The tool server %s asks while it carries out %s:\n\n%s", server, named(tool), message)
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
func Marker(p contract.PendingApproval, r contract.ApprovalResult) string {
	mark, d := "[ANSWER]: ", r.Decision
	switch {
	case d == contract.Approved && r.Outcome == contract.OutcomeRan:
		return "[APPROVAL]: Not needed, it did run"
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

// DescribeClientTool tells people that the sender of the message has to make the call
// that the description is of.
func DescribeClientTool(description string) string {
	return "Waiting for the client to make this call and to send its result:\n\n" + description
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
// is the name of a node in a tree, and empty for an agent that is one node. Every
// argument appears. Only a server that is ours by configuration gets a wording of ours.
func Describe(c contract.Call, node string) string {
	args := arguments(c.Arguments)
	switch ours := c.Wording == contract.WordingResources && c.Arguments.Blob == nil; {
	case c.Peer != nil:
		return describeDelegation(c, node, args)
	case ours && c.Name == "resources_add":
		return describeAdd(c, args)
	case ours && c.Name == "resources_remove":
		return describeRemove(c, args)
	}
	return heading(named(strings.ToUpper(c.Name))) + allArguments(c)
}

func heading(words string) string { return "**" + words + "**\n\n" }

func allArguments(c contract.Call) string { return "Args: " + indented(c.Arguments) }

func describeAdd(c contract.Call, args map[string]any) string {
	if others(args, "name", "value") {
		return heading("ADD Resource") + allArguments(c)
	}
	return heading("ADD Resource") + fmt.Sprintf("Name: %s\nValue: %s", value(args["name"]), value(args["value"]))
}

// describeRemove shows the id and the pattern where both are given: the tool
// removes what either of them fits.
func describeRemove(c contract.Call, args map[string]any) string {
	id, pattern := args["id"], args["pattern"]
	const warning = "\n\n⚠️ This will remove all resources matching the pattern."
	switch many, more := given(pattern), others(args, "id", "pattern"); {
	case many && more:
		return heading("REMOVE Resources") + allArguments(c) + warning
	case more || !many && !given(id):
		return heading("REMOVE Resource") + allArguments(c)
	case !many:
		return heading("REMOVE Resource") + "ID: " + value(id)
	case given(id):
		return heading("REMOVE Resources") + "ID: " + value(id) + "\nPattern: " + value(pattern) + warning
	}
	return heading("REMOVE Resources") + "Pattern: " + value(pattern) + warning
}

func given(v any) bool { return v != nil && v != "" }

// others reports whether there are arguments beside those of the given names.
func others(args map[string]any, names ...string) bool {
	known := 0
	for _, name := range names {
		if _, is := args[name]; is {
			known++
		}
	}
	return len(args) > known
}

// DescribeUnknown asks what to do about a call whose answer was lost. request describes
// the call.
func DescribeUnknown(tool, request, why string) string {
	return fmt.Sprintf("**OUTCOME UNKNOWN: %s**\n\n%s\n\nThe call was sent and its answer was lost (%s). It may or may not "+
		"have happened. %s", named(tool), request, aside(why), threeAnswers)
}

// threeAnswers is what people may say of a call whose outcome is unknown.
const threeAnswers = "If it did not happen, approve to call it now. If it did, answer \"ran\", or " +
	`{"content":{"outcome":"ran","result":"what it returned"}}` + ". Reject to go on without it."

// DescribeUnknownAnswer asks what to do about an approval that another agent may not
// have heard of. request is what was approved.
func DescribeUnknownAnswer(agent, request, why string) string {
	return fmt.Sprintf("**OUTCOME UNKNOWN: approval told to A2A agent %s**\n\n%s\n\nThe approval was sent and its answer was lost (%s). "+
		"The agent may or may not have gone on. If it did not hear of it, approve to tell it again. If it did, answer \"ran\". "+
		"Reject to go on without it.", agent, request, aside(why))
}

// DescribeNotTold asks again for an approval of which another agent could not be told.
func DescribeNotTold(agent, request, why string) string {
	return fmt.Sprintf("**NOT TOLD: approval for A2A agent %s**\n\nIt was approved, and the agent could not be told (%s). Nothing has come of it. "+
		"Approve to tell it now, reject to have it told that it was rejected.\n\n%s", agent, aside(strings.TrimSuffix(why, ".")), request)
}

// DescribeChanged asks what to do about an approved call that would go elsewhere, or to
// another tool, than was approved.
func DescribeChanged(c contract.Call, node, difference string) string {
	return fmt.Sprintf("**CHANGED SINCE IT WAS APPROVED: %s**\n\n%s\n\n%s\n\nThe call was not made. "+
		"Approve to make it as it is now, reject to go on without it.", named(c.Name), Describe(c, node), difference)
}

// DescribeNotReached asks what to do about a call that did not reach its server. request
// describes the call.
func DescribeNotReached(tool, request, why string) string {
	return fmt.Sprintf("**NOT REACHED: %s**\n\n%s\n\nThe call did not happen: its server could not be reached (%s). "+
		"Approve to try again, reject to go on without it.", named(tool), request, aside(why))
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

// value is an argument in a line of ours.
func value(v any) string {
	switch v := v.(type) {
	case nil:
		return noValue
	case string:
		return named(v)
	case json.Number:
		return v.String()
	}
	return Visible(plainJSON(v))
}

// indented is JSON for people. Of what is not in history it is the beginning.
func indented(j contract.JSON) string {
	var buf bytes.Buffer
	switch {
	case j.Blob != nil:
		return Visible(contract.Text{Blob: j.Blob}.Short())
	case len(j.Raw) == 0:
		return "{}"
	case json.Indent(&buf, j.Raw, "", "  ") != nil:
		return inQuotes(string(j.Raw))
	}
	return Visible(buf.String())
}
