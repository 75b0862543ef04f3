package wording

import (
	"fmt"
	"strings"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/delegation"
)

func describeDelegation(c contract.Call, node string, args map[string]any) string {
	message := " " + value(args["message"])
	if text, ok := args["message"].(string); ok {
		message = prose(text)
	}
	if c.Arguments.Blob != nil {
		message = prose(indentedJSON(c.Arguments))
	}
	if node != "" {
		return fmt.Sprintf("[%s] Delegate to A2A agent: %s\n\nMessage:%s", node, c.Peer.Name, message)
	}
	return fmt.Sprintf("**DELEGATE to A2A Agent: %s**\n\nMessage:%s", c.Peer.Name, message)
}

// Continued returns the description of a delegation, with what it continues at the other agent, below its heading. The
// other agent has chosen the IDs.
func Continued(description string, at delegation.Point) string {
	const most = 100 // bytes of an ID
	said := "Continues"
	if at.TaskID != "" {
		id, _ := cut(at.TaskID, most)
		said += " its task " + inQuotes(id)
		if !at.EndedAt.IsZero() {
			said += " (ended " + at.EndedAt.UTC().Format(timeLayout) + ")"
		}
	}
	if at.ContextID != "" {
		id, _ := cut(at.ContextID, most)
		said += " in its context " + inQuotes(id)
		if !at.Since.IsZero() {
			said += " (since " + at.Since.UTC().Format(timeLayout) + ")"
		}
	}
	said += ": that agent knows what was said there."
	heading, rest, _ := strings.Cut(description, "\n\n")
	return strings.TrimRight(heading+"\n\n"+said+"\n\n"+rest, "\n")
}

// timeLayout is how times are written in descriptions.
const timeLayout = "2006-01-02 15:04 MST"

// DescribeProxy describes the request of another agent, with that agent's text and the call for
// which it asks if it reports one. explanation is set apart. own is the name of this agent.
func DescribeProxy(agent, node, explanation, own string, o *contract.Origin) string {
	text := fmt.Sprintf("**PROXY APPROVAL — A2A Agent: %s**\n\n%s", agent, explanation)
	if node != "" {
		text = fmt.Sprintf("[%s] Proxy approval for A2A agent: %s\n\n%s", node, agent, explanation)
	}
	if o == nil {
		return text
	}
	text += "\n\nThrough: " + proxyChain(own, agent, o)
	if o.Tool != "" {
		text += "\nTool: " + quotedName(o.Tool) + "\nArgs: " + indentedJSON(o.Arguments)
	}
	return text
}

// proxyChain names the agents from this one to the one whose call waits.
func proxyChain(own, agent string, o *contract.Origin) string {
	in := contract.ApprovalInput{AgentName: own, RemoteAgent: agent, Origin: o, Reason: contract.ReasonRemote}
	return contract.ChainText(in.Chain())
}

// DecidedElsewhere returns why an approval was withdrawn: its task no longer waits for it.
func DecidedElsewhere(agent string, s contract.TaskState) string {
	if s == contract.TaskInputRequired {
		return fmt.Sprintf("decided elsewhere: the task of agent %s now asks for something else", agent)
	}
	return fmt.Sprintf("decided elsewhere: the task of agent %s is now %s", agent, s)
}

// NotFinished returns the result of a delegation whose task took too long.
func NotFinished(agent string, after time.Duration) string {
	return fmt.Sprintf("A2A error: agent %s had not finished after %s; the task was cancelled.", agent, short(after))
}

// short formats a duration without trailing zero units.
func short(d time.Duration) string {
	s := d.Round(time.Millisecond).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// DelegationResult returns the result of a delegation whose task has ended.
func DelegationResult(r contract.DelegateResult) contract.CallToolResult {
	out := contract.CallToolResult{Text: r.Text, Media: r.Media, Note: r.Note, IsError: r.State != contract.TaskCompleted}
	if r.Anew {
		out.Note = strings.TrimSpace(out.Note + " " + noteAnew)
	}
	if out.IsError && out.Text.IsZero() {
		out.Text = contract.Inline(fmt.Sprintf("A2A error: the task ended as %s.", r.State))
	}
	return out
}

// noteAnew is the note on a task that was to continue another one.
const noteAnew = "The agent no longer knows the earlier task that this one was to continue, so it began anew."

// DelegationFailure returns why a delegation failed permanently.
func DelegationFailure(f Failure) string {
	switch {
	case f.Lost:
		return "A2A error: no answer in time."
	case f.Kind == contract.KindOutcomeUnknown:
		return UnknownResult(f.Message, contract.ApprovalResult{}).Text.Inline
	}
	return "A2A error: " + f.Message
}

// TaskAuthRequired returns the reply if another agent requires the user to log in.
func TaskAuthRequired(agent string) string {
	return fmt.Sprintf("Authentication required by A2A agent %s.", agent)
}

// RemoteNotReached returns the note on a refusal that another agent did not receive.
func RemoteNotReached(agent string, f Failure) string {
	return fmt.Sprintf("The agent %s could not be told: %s", agent, DelegationFailure(f))
}

// RemoteWantsLogin returns the note on a message that another agent does not accept without a
// login.
func RemoteWantsLogin(agent string) string {
	return fmt.Sprintf("The agent %s could not be told: %s", agent, TaskAuthRequired(agent))
}

// RemoteDeliveryStarted returns the note on a message that a Delivery will send.
func RemoteDeliveryStarted(agent, workflow string) string {
	return fmt.Sprintf("The agent %s could not be told yet; it is tried again until it hears of it (workflow %s).", agent, workflow)
}

// DeliveryFailed returns why another agent never received a message.
func DeliveryFailed(agent string, f Failure, within time.Duration) string {
	if f.Kind.Permanent() {
		return RemoteNotReached(agent, f)
	}
	return fmt.Sprintf("The agent %s could not be told within %d days: %s", agent, within/(24*time.Hour), DelegationFailure(f))
}

// DelegateSummary is the line the Web UI shows for a delegation.
func DelegateSummary(in contract.DelegateInput) string {
	switch {
	case in.Cancel:
		return fmt.Sprintf("tell %s: cancel the task", in.Peer.Name)
	case in.Decision != "":
		return fmt.Sprintf("tell %s: %s", in.Peer.Name, in.Decision)
	case in.TaskID != "":
		return "look at the task of " + in.Peer.Name
	}
	return "delegate to " + in.Peer.Name
}
