package agui

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/login"
	"agent-stop-and-go/workflows/record"
)

type OutcomeType string

// The outcomes of a run.
const (
	OutcomeSuccess   OutcomeType = "success"
	OutcomeInterrupt OutcomeType = "interrupt"
	OutcomeCancelled OutcomeType = "cancelled"
)

type Outcome struct {
	Type       OutcomeType `json:"type"`
	Interrupts []Interrupt `json:"interrupts,omitempty"`
	// PendingToolCallIDs are the calls that the client has to make.
	PendingToolCallIDs []string `json:"pendingToolCallIds,omitempty"`
	// calls are the same calls, also for an interrupt: the protocol has no member for them
	// there.
	calls []string
}

// Interrupt is a waiting approval.
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
	// InterruptApproval is for the approval of a call that is in no message.
	InterruptApproval = Namespace + ":approval"
)

// outcome returns the outcome of a run that has sent these items.
func outcome(items []item, pending []contract.PendingApproval) Outcome {
	var interrupts []Interrupt
	var calls []string
	finder := callFinder{items: items, used: map[string]bool{}}
	for _, p := range pending {
		call := finder.callOf(p)
		if p.Reason != contract.ReasonClientTool {
			interrupts = append(interrupts, interrupt(p, call))
		} else if call != "" {
			calls = append(calls, call)
		}
	}
	slices.SortStableFunc(calls, func(a, b string) int { return cmp.Compare(callIndex(items, a), callIndex(items, b)) })
	switch {
	case len(interrupts) > 0:
		return Outcome{Type: OutcomeInterrupt, Interrupts: interrupts, calls: calls}
	case len(pending) == 0 && cancelled(items):
		return Outcome{Type: OutcomeCancelled}
	}
	return Outcome{Type: OutcomeSuccess, PendingToolCallIDs: calls, calls: calls}
}

// cancelled reports whether the last text says that the turn was cancelled.
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

func callIndex(items []item, call string) int {
	return slices.IndexFunc(items, func(i item) bool { return i.Kind == record.KindCall && i.call == call })
}

// callFinder finds the calls that approvals are about. It returns no call twice.
type callFinder struct {
	items []item
	used  map[string]bool
}

// callOf returns the AG-UI ID of the call, or "".
func (c callFinder) callOf(p contract.PendingApproval) string {
	answered := map[string]bool{}
	for _, i := range slices.Backward(c.items) {
		switch {
		case i.Kind == record.KindResult:
			answered[i.call] = true
		case i.Kind != record.KindCall:
		case p.Call != "" && i.ID == p.Call:
			c.used[i.call] = true
			return i.call
		case p.Call == "" && !answered[i.call] && !c.used[i.call] && matches(p, i):
			c.used[i.call] = true
			return i.call
		}
	}
	return ""
}

func matches(p contract.PendingApproval, i item) bool {
	return i.ToolCall.Name == p.ToolName && (i.Node == "" || p.Node == "" || i.Node == p.Node) &&
		sameJSON(i.text, argumentsOf(p.ToolArgs.Raw))
}

func interrupt(p contract.PendingApproval, call string) Interrupt {
	return Interrupt{
		ID: p.UUID, Reason: interruptReason(p, call), Message: p.Description, ToolCallID: call,
		ResponseSchema: responseSchema(p), Metadata: Metadata{Namespace: subject{
			Tool: p.ToolName, Args: p.ToolArgs, Digest: p.Digest, Node: p.Node, Reason: p.Reason, Login: p.Login, Edit: p.Edit,
		}},
	}
}

// subject describes an approval to people, besides its text.
type subject struct {
	Tool   string          `json:"tool"`
	Args   contract.JSON   `json:"args"`
	Digest string          `json:"digest,omitempty"`
	Node   string          `json:"node,omitempty"`
	Reason contract.Reason `json:"reason,omitempty"`
	// Login is what the call waits for that needs a login.
	Login *login.Need `json:"login,omitempty"`
	// Edit are the arguments that may be changed with editedArgs: names, or paths into objects.
	Edit []string `json:"edit,omitempty"`
}

func interruptReason(p contract.PendingApproval, call string) string {
	if p.Answered() {
		return InterruptInput
	}
	switch p.Reason {
	case contract.ReasonLimit, contract.ReasonUnknownOutcome, contract.ReasonNotReached, contract.ReasonChanged, contract.ReasonRemote, contract.ReasonLogin:
		return InterruptConfirmation
	}
	if call == "" {
		return InterruptApproval
	}
	return InterruptToolCall
}

// responseSchema returns the schema of the payload that answers an approval.
func responseSchema(p contract.PendingApproval) json.RawMessage {
	content := ""
	if p.TakesContent() && len(p.Schema.Raw) > 0 {
		content = `"content":` + string(p.Schema.Raw) + `,`
	}
	return json.RawMessage(`{"type":"object","properties":{"approved":{"type":"boolean"},` + content + editedArgs(p) +
		`"reason":{"type":"string"}},"required":["approved"]}`)
}

// editedArgs is the schema of the arguments that may be changed, as a member of others.
func editedArgs(p contract.PendingApproval) string {
	if len(p.Edit) == 0 || p.TakesContent() {
		return ""
	}
	properties := map[string]json.RawMessage{}
	for _, name := range p.Edit { // a path is into an object
		if outer, _, path := strings.Cut(name, "."); path {
			properties[outer] = json.RawMessage(`{"type":"object"}`)
		}
		if !strings.Contains(name, ".") {
			properties[name] = json.RawMessage(`{}`)
		}
	}
	raw, _ := json.Marshal(properties) // objects
	return `"editedArgs":{"type":"object","properties":` + string(raw) + `},`
}
