package responses

import (
	"cmp"
	"strings"

	"agent-stop-and-go/gateway/exchange"
	"agent-stop-and-go/gateway/openai"
	"agent-stop-and-go/gateway/passcode"
	"agent-stop-and-go/workflows/contract"
)

// output is an item of a response: a message, a call of the client or a request for an approval.
type output struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Status  string `json:"status,omitempty"`
	Role    string `json:"role,omitempty"`
	Content []part `json:"content,omitzero"`
	CallID  string `json:"call_id,omitempty"`
	Name    string `json:"name,omitempty"`
	// Arguments are nil for a message.
	Arguments   *string `json:"arguments,omitempty"`
	ServerLabel string  `json:"server_label,omitempty"`
	// EncryptedContent is that of a compaction.
	EncryptedContent string `json:"encrypted_content,omitempty"`
}

// part is a text in a message.
type part struct {
	Type        string     `json:"type"`
	Text        string     `json:"text"`
	Annotations []struct{} `json:"annotations"`
	Logprobs    []struct{} `json:"logprobs"`
}

func textPart(text string) part { return part{"output_text", text, []struct{}{}, []struct{}{}} }

func message(id, text string) output {
	return output{ID: id, Type: "message", Status: statusCompleted, Role: "assistant", Content: []part{textPart(text)}}
}

// approvalID returns the ID of a request for an approval.
func approvalID(uuid string) string { return prefixApproval + compact(uuid) }

func approvalOf(id string) (uuid string, ok bool) {
	hex, ok := strings.CutPrefix(id, prefixApproval)
	if !ok {
		return "", false
	}
	return openai.UUID(hex)
}

// asks says which approvals are items: those of servers that the client has declared, or all.
type asks struct {
	labels map[string]bool
	all    bool
}

// shows reports whether an approval is an item, and with which label. An item has no more than a name
// and arguments, so a call that another agent makes, or that has changed, is none.
func (a asks) shows(p contract.PendingApproval) (label string, ok bool) {
	if !passcode.Takes(p) || p.Reason == contract.ReasonRemote || p.Origin != nil || p.Reason == contract.ReasonChanged {
		return "", false
	}
	label = cmp.Or(p.Server, p.AgentName)
	for _, name := range []string{p.Server, p.AgentName} {
		if name != "" && a.labels[name] {
			return name, true
		}
	}
	return label, a.all
}

// rest returns the items of a reply behind its text: calls of the client, approvals as items, and the
// other approvals.
func (a asks) rest(id string, r exchange.Reply) (items []output, others []contract.PendingApproval) {
	for _, p := range r.Calls() {
		arguments := cmp.Or(string(p.ToolArgs.Raw), "{}")
		items = append(items, output{ID: itemID("fc", id, compact(p.UUID)[:8]), Type: "function_call", Status: statusCompleted, CallID: openai.CallID(p), Name: p.ToolName, Arguments: &arguments})
	}
	for _, p := range r.Approvals() {
		label, ok := a.shows(p)
		if !ok {
			others = append(others, p)
			continue
		}
		arguments := cmp.Or(string(p.ToolArgs.Raw), "{}")
		items = append(items, output{ID: approvalID(p.UUID), Type: "mcp_approval_request", Status: statusCompleted, Name: p.ToolName, Arguments: &arguments, ServerLabel: label})
	}
	return items, others
}

// messageID returns the ID of the message with what the agent said.
func messageID(id string) string { return itemID("msg", id, "") }

// cardID returns the ID of the message with cards of approvals.
func cardID(id string) string { return itemID("msg", id, "cards") }
