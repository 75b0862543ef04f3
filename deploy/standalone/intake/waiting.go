package intake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/overrun"
	"agent-stop-and-go/workflows/contract/transfer"
)

const (
	adviceDecide = "decide it where it waits and export the conversation again, or " + adviceDrop
	adviceDrop   = "import it with --drop-approvals: it goes on without the call, which does not run"
)

// waiting returns the calls that go on here with new approvals, and takes their messages out of
// the history: they are written again when the turn begins.
func (f *File) waiting(h *history) (*transfer.Reply, error) {
	var calls []transfer.Call
	taken, seen := map[int]bool{}, map[string]bool{}
	for i, p := range f.PendingApprovals {
		at := "pending_approval"
		if i > 0 {
			at = fmt.Sprintf("pending_approvals[%d]", i)
		}
		uuid := strings.ToLower(p.UUID)
		if seen[uuid] {
			return nil, &Fault{Place: at + ".uuid", Problem: fmt.Sprintf("two approvals have the UUID %q", p.UUID), Advice: adviceDamaged}
		}
		seen[uuid] = true
		if problem := f.standsStill(p); problem != "" {
			return nil, &Fault{Place: at, Problem: problem, Advice: adviceDecide, waits: true}
		}
		call, from, err := f.waitingCall(h, p, at)
		if err != nil {
			return nil, err
		}
		if from >= 0 {
			taken[from] = true
		}
		calls = append(calls, call)
	}
	besides, err := h.besides(taken, slices.ContainsFunc(f.PendingApprovals, afterDecision))
	if err != nil {
		return nil, err
	}
	calls = append(calls, besides...)
	if problem := overrun.Of(calls, func(c transfer.Call) string { return c.Name }); problem != "" {
		return nil, &Fault{Place: "pending_approval", Problem: problem, Advice: adviceDecide, waits: true}
	}
	return &transfer.Reply{Text: h.takeBack(f.PendingApprovals), Calls: calls}, nil
}

// afterDecision reports whether an approval is asked for after the calls of its reply were
// approved. Before that, none of them has run.
func afterDecision(p contract.PendingApproval) bool {
	return p.RemoteTaskID != "" || p.Reason != "" && p.Reason != contract.ReasonDestructive
}

// standsStill says why an approval cannot go on here, or "".
func (f *File) standsStill(p contract.PendingApproval) string {
	switch {
	case len(p.NodePath) > 0 || f.PipelineState != nil:
		return fmt.Sprintf("%s waits inside a tree of nodes, and its position there cannot be restored", p.ToolName)
	case p.Reason == contract.ReasonUnknownOutcome:
		return fmt.Sprintf("%s may have run, and only where it was called can somebody know", p.ToolName)
	case p.Reason == contract.ReasonQuestion:
		return fmt.Sprintf("%s runs, and its server asks a question", p.ToolName)
	case p.Reason == contract.ReasonClientTool, p.Reason == contract.ReasonLimit:
		return fmt.Sprintf("an approval of kind %s cannot wait here", p.Reason)
	case p.Reason == contract.ReasonRemote && p.RemoteTaskID == "":
		return "the task of the other agent is not known"
	}
	return ""
}

// waitingCall returns the call of an approval, and the position of its message or -1.
func (f *File) waitingCall(h *history, p contract.PendingApproval, at string) (transfer.Call, int, error) {
	out := transfer.Call{Name: p.ToolName, Arguments: f.arguments[p.UUID], Approval: strings.ToLower(p.UUID), Task: p.RemoteTaskID}
	if !contract.IsUUID(out.Approval) {
		out.Approval = ""
	}
	if p.ToolName == "" {
		return out, 0, &Fault{Place: at + ".tool_name", Problem: "it is missing", Advice: adviceShape}
	}
	if !isObject(out.Arguments) {
		return out, 0, &Fault{Place: at + ".tool_args", Problem: "arguments are an object", Advice: adviceShape}
	}
	from := h.callOf(p)
	if from >= 0 {
		recorded := h.messages[from].ToolCall
		out.ID = recorded.ID
		if out.Task != "" { // what was sent there is what the message says
			out.Arguments = recorded.Arguments.Raw
		} else if !same(out.Arguments, recorded.Arguments.Raw) {
			return out, 0, &Fault{Place: at + ".tool_args", Problem: "they are not those of the call in the messages", Advice: adviceDamaged}
		}
	}
	out.Arguments = object(out.Arguments)
	return out, from, nil
}

// callOf returns the position of the message with the call of an approval, or -1.
func (h *history) callOf(p contract.PendingApproval) int {
	for n := len(h.open) - 1; n >= 0; n-- {
		m := h.messages[h.open[n]]
		if m.ToolCall.Name == p.ToolName && (p.Call == "" || strings.EqualFold(p.Call, m.ID)) {
			return h.open[n]
		}
	}
	return -1
}

// besides returns the calls that waited together with those that are taken. They are asked about
// here, too: whether somebody has approved them elsewhere cannot be proven. A delegation runs
// beside others, and its task is in no file: once calls of the reply run, it may have been sent.
func (h *history) besides(taken map[int]bool, run bool) (out []transfer.Call, err error) {
	for _, i := range h.open {
		c := h.messages[i].ToolCall
		switch {
		case taken[i]:
			continue
		case run && strings.HasPrefix(c.Name, contract.Peer{}.Tool()):
			return nil, &Fault{Place: fmt.Sprintf("messages[%d].tool_call", i), Problem: fmt.Sprintf("the message of %s may have been sent, and its task is not known", c.Name),
				Advice: adviceDecide, waits: true}
		}
		out = append(out, transfer.Call{ID: c.ID, Name: c.Name, Arguments: c.Arguments.Raw})
	}
	return out, nil
}

// takeBack removes the calls without a result and the requests for the approvals. It returns the
// text before the calls, which it removes too.
func (h *history) takeBack(pending []contract.PendingApproval) (text string) {
	requests, gone, stays := map[string]bool{}, map[int]bool{}, map[string]bool{}
	for _, p := range pending {
		requests[strings.ToLower(p.UUID)] = true
	}
	reply := "" // that waits
	for _, i := range h.open {
		gone[i], reply = true, h.messages[i].Reply
	}
	for i, m := range h.messages {
		if m.Notice && requests[m.ApprovalID] {
			gone[i] = true
		}
		stays[m.Reply] = stays[m.Reply] || m.ToolCall != nil && !gone[i]
	}
	kept := h.messages[:0:0]
	for i, m := range h.messages {
		switch {
		case gone[i]:
		case reply != "" && m.Reply == reply && !stays[reply]:
			text = m.Content.Inline
		default:
			kept = append(kept, m)
		}
	}
	h.messages, h.open = kept, nil
	return text
}

// same reports whether arguments are equal, however they are written.
func same(a, b json.RawMessage) bool {
	first, err := toolbox.CanonicalArguments(a)
	if err != nil {
		return false
	}
	second, err := toolbox.CanonicalArguments(b)
	return err == nil && bytes.Equal(first, second)
}

// object returns arguments, of which none are an empty object.
func object(raw json.RawMessage) json.RawMessage {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || string(raw) == "null" {
		return json.RawMessage(`{}`)
	}
	return raw
}

// offered says why this agent cannot make a call, or "".
func offered(c transfer.Call, agent contract.Agent, tools contract.Catalogue) string {
	root := agent.Root()
	if root.Composite() {
		return fmt.Sprintf("this agent is a tree of nodes, and where %s waited in it cannot be known", c.Name)
	}
	if root.Peer != nil {
		return fmt.Sprintf("this agent only forwards messages to %s, and calls no tool", root.Peer.Name)
	}
	if slices.ContainsFunc(root.Peers, func(p contract.Peer) bool { return p.Tool() == c.Name }) {
		return ""
	}
	if c.Task != "" {
		return fmt.Sprintf("this agent does not know the other agent of %s", c.Name)
	}
	i := slices.IndexFunc(tools.Tools, func(t contract.Tool) bool { return t.Name == c.Name })
	if i >= 0 && (root.Tools == nil || slices.Contains(root.Tools, c.Name) || slices.Contains(root.Tools, tools.Tools[i].Server)) {
		return ""
	}
	for _, s := range tools.Servers {
		if !s.Ready {
			return fmt.Sprintf("there is no tool %s: the server %s is not ready", c.Name, s.Name)
		}
	}
	return fmt.Sprintf("this agent has no tool %s", c.Name)
}
