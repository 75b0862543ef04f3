package agui

import (
	"cmp"
	"encoding/json"
	"slices"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

// OutcomeType says how a run ended.
type OutcomeType string

// The outcomes.
const (
	OutcomeSuccess   OutcomeType = "success"
	OutcomeInterrupt OutcomeType = "interrupt"
	OutcomeCancelled OutcomeType = "cancelled"
)

// Outcome is how a run ended.
type Outcome struct {
	Type       OutcomeType `json:"type"`
	Interrupts []Interrupt `json:"interrupts,omitempty"`
	// PendingToolCallIDs are the calls that the client has to make.
	PendingToolCallIDs []string `json:"pendingToolCallIds,omitempty"`
	// calls are the same calls, whatever the type: the protocol has no place for them
	// in an interrupt.
	calls []string
}

// Interrupt is an approval that waits.
type Interrupt struct {
	ID             string          `json:"id"`
	Reason         string          `json:"reason"`
	Message        string          `json:"message,omitempty"`
	ToolCallID     string          `json:"toolCallId,omitempty"`
	ResponseSchema json.RawMessage `json:"responseSchema,omitempty"`
	Metadata       Metadata        `json:"metadata,omitempty"`
}

// The reasons of interrupts.
const (
	InterruptToolCall     = "tool_call"
	InterruptInput        = "input_required"
	InterruptConfirmation = "confirmation"
	// InterruptApproval is an approval of a call that is in no message.
	InterruptApproval = Namespace + ":approval"
)

// outcome is how a run ends that has sent these items.
func outcome(items []item, pending []contract.PendingApproval) Outcome {
	var interrupts []Interrupt
	var calls []string
	calling := caller{items: items, taken: map[string]bool{}}
	for _, p := range pending {
		call := calling.callOf(p)
		if p.Reason != contract.ReasonClientTool {
			interrupts = append(interrupts, interrupt(p, call))
		} else if call != "" {
			calls = append(calls, call)
		}
	}
	slices.SortStableFunc(calls, func(a, b string) int { return cmp.Compare(place(items, a), place(items, b)) })
	switch {
	case len(interrupts) > 0:
		return Outcome{Type: OutcomeInterrupt, Interrupts: interrupts, calls: calls}
	case len(pending) == 0 && cancelled(items):
		return Outcome{Type: OutcomeCancelled}
	}
	return Outcome{Type: OutcomeSuccess, PendingToolCallIDs: calls, calls: calls}
}

// cancelled reports whether the last thing that was said is that the turn was cancelled.
func cancelled(items []item) bool {
	for _, i := range slices.Backward(items) {
		switch i.Kind {
		case record.KindMessage:
			return false
		case record.KindText:
			return i.Outcome == contract.OutcomeCancelled
		}
	}
	return false
}

func place(items []item, call string) int {
	return slices.IndexFunc(items, func(i item) bool { return i.Kind == record.KindCall && i.call == call })
}

// caller finds the calls that approvals are about; no call twice.
type caller struct {
	items []item
	taken map[string]bool
}

// callOf is the AG-UI ID of the call, or nothing.
func (c caller) callOf(p contract.PendingApproval) string {
	answered := map[string]bool{}
	for _, i := range slices.Backward(c.items) {
		switch {
		case i.Kind == record.KindResult:
			answered[i.call] = true
		case i.Kind != record.KindCall:
		case p.Call != "" && i.ID == p.Call:
			c.taken[i.call] = true
			return i.call
		case p.Call == "" && !answered[i.call] && !c.taken[i.call] && isAbout(p, i):
			c.taken[i.call] = true
			return i.call
		}
	}
	return ""
}

func isAbout(p contract.PendingApproval, i item) bool {
	return i.ToolCall.Name == p.ToolName && (i.Node == "" || p.Node == "" || i.Node == p.Node) &&
		sameJSON(i.text, argumentsOf(p.ToolArgs.Raw))
}

func interrupt(p contract.PendingApproval, call string) Interrupt {
	return Interrupt{
		ID: p.UUID, Reason: interruptReason(p, call), Message: p.Description, ToolCallID: call,
		ResponseSchema: responseSchema(p), Metadata: Metadata{Namespace: subject{
			Tool: p.ToolName, Args: p.ToolArgs, Digest: p.Digest, Node: p.Node, Reason: p.Reason,
		}},
	}
}

// subject is what people need to know of an approval besides its text.
type subject struct {
	Tool   string          `json:"tool"`
	Args   contract.JSON   `json:"args"`
	Digest string          `json:"digest,omitempty"`
	Node   string          `json:"node,omitempty"`
	Reason contract.Reason `json:"reason,omitempty"`
}

func interruptReason(p contract.PendingApproval, call string) string {
	if p.Answered() {
		return InterruptInput
	}
	switch p.Reason {
	case contract.ReasonLimit, contract.ReasonUnknownOutcome, contract.ReasonNotReached, contract.ReasonChanged, contract.ReasonRemote:
		return InterruptConfirmation
	}
	if call == "" {
		return InterruptApproval
	}
	return InterruptToolCall
}

// responseSchema is the schema of the payload that answers an approval.
func responseSchema(p contract.PendingApproval) json.RawMessage {
	content := ""
	if p.TakesContent() && len(p.Schema.Raw) > 0 {
		content = `"content":` + string(p.Schema.Raw) + `,`
	}
	return json.RawMessage(`{"type":"object","properties":{"approved":{"type":"boolean"},` + content +
		`"reason":{"type":"string"}},"required":["approved"]}`)
}
