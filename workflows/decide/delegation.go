package decide

import (
	"fmt"

	"agent-stop-and-go/workflows/contract"
)

func describeDelegation(c contract.Call, node string, args map[string]any) string {
	message := value(args["message"])
	if c.Arguments.Blob != nil {
		message = indented(c.Arguments)
	}
	if node != "" {
		return fmt.Sprintf("[%s] Delegate to A2A agent: %s\n\nMessage: %s", node, c.Peer.Name, message)
	}
	return fmt.Sprintf("**DELEGATE to A2A Agent: %s**\n\nMessage: %s", c.Peer.Name, message)
}

// DescribeProxy says what another agent wants to have approved, in its own words.
func DescribeProxy(agent, node, explanation string) string {
	if node != "" {
		return fmt.Sprintf("[%s] Proxy approval for A2A agent: %s\n\n%s", node, agent, explanation)
	}
	return fmt.Sprintf("**PROXY APPROVAL — A2A Agent: %s**\n\n%s", agent, explanation)
}

// Delegated is the result of a delegation that came to an end.
func Delegated(r contract.DelegateResult) contract.CallToolResult {
	out := contract.CallToolResult{Text: r.Text, Note: r.Note, IsError: r.State != contract.TaskCompleted}
	if out.IsError && out.Text.IsZero() {
		out.Text = contract.Inline(fmt.Sprintf("A2A error: the task ended as %s.", r.State))
	}
	return out
}

// DelegationFailed is the result of a delegation that failed for good.
func DelegationFailed(f Failure) contract.CallToolResult {
	return contract.CallToolResult{Text: contract.Inline(DelegationFailure(f)), IsError: true}
}

// DelegationFailure says why a delegation failed for good.
func DelegationFailure(f Failure) string {
	if f.Lost {
		return "A2A error: no answer in time."
	}
	return "A2A error: " + f.Message
}

// TaskAuthRequired is the reply when another agent wants the user to log in.
func TaskAuthRequired(agent string) string {
	return fmt.Sprintf("Authentication required by A2A agent %s.", agent)
}

// RemoteNotTold is the note on a refusal that another agent did not hear of.
func RemoteNotTold(agent string, f Failure) string {
	return fmt.Sprintf("The agent %s could not be told: %s", agent, DelegationFailure(f))
}

// DelegateSummary is the line the Web UI shows for a delegation.
func DelegateSummary(in contract.DelegateInput) string {
	if in.Decision != "" {
		return fmt.Sprintf("tell %s: %s", in.Peer.Name, in.Decision)
	}
	return "delegate to " + in.Peer.Name
}
