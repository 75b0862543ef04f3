package peer

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"agent-stop-and-go/workflows/contract"
)

// hitlExtension is an extension of kagent for approvals between agents: the metadata of a
// status message names the waiting tools, and the metadata of the answer decides on each. It
// requires a header on every request, including the first.
const hitlExtension = "https://kagent.dev/extensions/hitl/v1"

type hitlRequest struct {
	Type   string     `json:"type"`
	Hint   string     `json:"hint"`
	Tools  []hitlTool `json:"tools"`
	Nested *struct {
		Agent string          `json:"subagent_name"`
		Chain json.RawMessage `json:"chain"` // of agents of this project
		Tools []hitlTool      `json:"tools"`
	} `json:"nested"`
}

type hitlTool struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

// hitl returns the request in a message, or nil. Questions (ask_user_request) are read from
// their text.
func (m *message) hitl() *hitlRequest {
	var r hitlRequest
	if !slices.Contains(m.Extensions, hitlExtension) || json.Unmarshal(m.Metadata.HITL, &r) != nil {
		return nil
	}
	nameless := func(t hitlTool) bool { return t.ID == "" }
	if r.Type != "tool_approval_request" || len(r.waiting()) == 0 || slices.ContainsFunc(r.waiting(), nameless) {
		return nil
	}
	return &r
}

// waiting returns the tools to decide on: those of a nested agent, if there is one.
func (r *hitlRequest) waiting() []hitlTool {
	if r.Nested != nil {
		return r.Nested.Tools
	}
	return r.Tools
}

// request converts it to one approval: all its tools are approved or none. Its ID is that of
// the first tool.
func (r *hitlRequest) request(agent string) *contract.ApprovalRequest {
	if r == nil {
		return nil
	}
	tools := r.waiting()
	var names []string
	for _, t := range tools {
		names = append(names, t.Name)
	}
	out := &contract.ApprovalRequest{
		Type: contract.TypeApprovalRequest, UUID: clip(tools[0].ID, maxID), Tool: clip(strings.Join(names, ", "), maxID),
		Description: clip(r.Hint, maxDescription), Reason: contract.ReasonDestructive, Arguments: limitedJSON(tools[0].Args, maxArguments),
	}
	if len(tools) > 1 {
		all, _ := json.Marshal(map[string]any{"calls": tools})
		out.Arguments = limitedJSON(all, maxArguments)
	}
	if r.Nested == nil {
		return out
	}
	if names := chain(r.Nested.Chain); len(names) > 0 {
		out.Chain = append([]string{agent}, names...)
	} else if r.Nested.Agent != "" {
		out.Chain = []string{agent, clip(r.Nested.Agent, maxChainName)}
	}
	return out
}

// answerHITL adds the decision to a message to an agent that uses this extension.
func (x *session) answerHITL(m *a2a.Message, now *task) bool {
	if now == nil || now.Status.Message == nil {
		return false
	}
	r := now.Status.Message.hitl()
	if r == nil || now.ownRequest() {
		return false
	}
	type approval struct {
		ID       string `json:"id"`
		Approved bool   `json:"approved"`
		Reason   string `json:"rejection_reason,omitempty"`
	}
	var approvals []approval
	for _, t := range r.waiting() {
		a := approval{ID: t.ID, Approved: x.msg.Decision == contract.Approved}
		if !a.Approved {
			a.Reason = x.msg.Reason
		}
		approvals = append(approvals, a)
	}
	m.Extensions = append(m.Extensions, hitlExtension)
	m.SetMeta(hitlExtension, map[string]any{"type": "tool_approval_response", "approvals": approvals})
	return true
}

// ownRequest reports whether the task asks with an ApprovalRequest.
func (t *task) ownRequest() bool {
	return slices.ContainsFunc(t.Status.Message.Parts, func(p part) bool {
		return bytes.Contains(p.Data, []byte(contract.TypeApprovalRequest)) && readRequest(p.Data) != nil
	})
}
