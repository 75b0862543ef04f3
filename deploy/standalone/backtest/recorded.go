package backtest

import (
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"agent-stop-and-go/activities/bearer"
	"agent-stop-and-go/activities/rules"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/transfer"
	"agent-stop-and-go/workflows/contract/verdict"
	"agent-stop-and-go/workflows/record/document"
)

// Tool is what is known of a tool as it is now.
type Tool struct {
	Server                            string
	ReadOnly, Destructive, Idempotent bool
	// Own means that it is a tool of the agent, whose arguments name the server.
	Own bool
	// Partial means that only Destructive is known of the hints.
	Partial bool
	// Names are the names of its arguments.
	Names []string
}

// ToolOf returns what the list of an agent's tools says of one.
func ToolOf(t toolbox.Tool) Tool {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	_ = json.Unmarshal(t.InputSchema, &s) // a schema that names none
	return Tool{
		Server: t.Server, ReadOnly: t.ReadOnly, Destructive: t.DestructiveHint, Idempotent: t.Idempotent,
		Names: slices.Sorted(maps.Keys(s.Properties)), Own: t.Server == "" && (t.Name == toolbox.ToolRead || t.Name == toolbox.ToolPrompt),
	}
}

// Call is a recorded call of a model.
type Call struct {
	Conversation string
	Message      string // ID of the message with the call
	Case         string // name of a case, which is no recorded call
	At           time.Time
	// Then is what happened to it.
	Then Then
	// Call is what is known of it, and Unknown are the variables of conditions that are not.
	Call    verdict.Call
	Unknown []string
	// Tool is the tool as it is now; nil is not known.
	Tool *Tool
}

// Then is what happened to a call.
type Then struct {
	// Outcome is that of the recorded verdict. Without one it is ask if the call was asked about,
	// else allow.
	Outcome verdict.Outcome
	// Rule is the rule that decided; "" if none did.
	Rule string
	// Decision is the last decision about it, if it was asked about and that is over.
	Decision contract.Decision
}

// Calls returns the calls of models in a conversation. tools may be nil.
func Calls(c document.Conversation, tools map[string]Tool) iter.Seq[Call] {
	return func(yield func(Call) bool) {
		r := reader{tools: tools, asked: askedIn(c)}
		for _, m := range c.Messages {
			call, ok := r.read(c, m)
			if ok && !yield(call) {
				return
			}
		}
	}
}

// reader reads the messages of a conversation in order.
type reader struct {
	tools map[string]Tool
	asked map[string][]asked // by tool and hash of the arguments

	sender  *contract.Identity // of the last message
	usage   verdict.Usage      // of the replies before the present one
	present document.Usage     // of that one
	before  []contract.Message // with calls and results, for rules.Earlier
	reply   []verdict.Earlier  // calls of the present reply so far
	replied string             // node of the present reply
}

// asked is an approval about a call.
type asked struct {
	at       time.Time
	decision contract.Decision
}

// askedIn returns the approvals of a conversation, by what they are about.
func askedIn(c document.Conversation) map[string][]asked {
	out := map[string][]asked{}
	for _, m := range c.Messages {
		if a := m.Approval; a != nil {
			key := a.Tool + " " + a.ArgumentsSHA256
			out[key] = append(out[key], asked{a.RequestedAt, a.Decision})
		}
	}
	for _, p := range c.PendingApprovals {
		key := p.ToolName + " " + p.Digest
		out[key] = append(out[key], asked{at: p.CreatedAt})
	}
	return out
}

func (r *reader) read(c document.Conversation, m document.Message) (Call, bool) {
	switch {
	case m.Role == contract.RoleUser && m.Approval == nil:
		r.sender, r.reply = m.Identity, nil
	case m.Role == contract.RoleTool && m.ToolCall != nil:
		r.result(m)
	case m.Role == contract.RoleAssistant && m.ToolCall != nil:
		return r.call(c, m)
	}
	if m.Role == contract.RoleAssistant && m.DraftID != "" {
		r.begin(m)
	}
	return Call{}, false
}

// begin begins a reply with its first message.
func (r *reader) begin(m document.Message) {
	r.usage.InputTokens += r.present.InputTokens
	r.usage.OutputTokens += r.present.OutputTokens
	r.usage.Calls += r.present.Calls
	if cost, err := r.present.Cost.Float64(); err == nil {
		r.usage.CostNanos += int64(cost*1e9 + 0.5)
	}
	r.present, r.reply, r.replied = m.Usage, nil, m.Node
}

func (r *reader) result(m document.Message) {
	r.reply = nil
	stored := contract.Message{Role: m.Role, ToolCall: &contract.ToolCall{Name: m.ToolCall.Name, IsError: m.ToolCall.IsError}}
	for i, b := range slices.Backward(r.before) { // a call that a rule kept from running has a result, too
		if b.Role == contract.RoleAssistant && b.ToolCall.ID == m.ToolCall.ID && b.ToolCall.Name == m.ToolCall.Name {
			stored.ResultOf = r.before[i].ID
			break
		}
	}
	r.before = append(r.before, stored)
}

// call returns a call with what the rules would have known of it.
func (r *reader) call(c document.Conversation, m document.Message) (Call, bool) {
	switch {
	case m.DraftID != "":
		r.begin(m)
	case m.Node != r.replied:
		r.reply, r.replied = nil, m.Node
	}
	args := m.ToolCall.Arguments
	if text := strings.TrimSpace(string(args)); text == "" || text == "null" {
		args = json.RawMessage(`{}`)
	}
	out := Call{Conversation: c.ID, Message: m.ID, At: m.CreatedAt, Then: r.then(m, args)}
	out.Call = verdict.Call{
		Tool: m.ToolCall.Name, Arguments: args, Node: m.Node, Time: m.CreatedAt,
		Before: rules.Earlier(r.before), Reply: slices.Clone(r.reply), Facts: &verdict.Facts{Usage: r.usage},
	}
	if m.Node != "" {
		out.Unknown = append(out.Unknown, "before")
	}
	out.addSender(r.sender)
	out.addTool(r.tools)
	out.addFacts(m.ToolCall.Verdict)
	stored := contract.Message{ID: m.ID, Role: m.Role, ToolCall: &contract.ToolCall{ID: m.ToolCall.ID, Name: m.ToolCall.Name}}
	if v := m.ToolCall.Verdict; v != nil {
		stored.ToolCall.Verdict = &verdict.Verdict{Outcome: v.Outcome}
	}
	r.before = append(r.before, stored)
	r.reply = append(r.reply, verdict.Earlier{Tool: m.ToolCall.Name})
	return out, m.ToolCall.Name != contract.ToolExitLoop && m.ToolCall.Name != bearer.ToolLogIn
}

// then says what happened to a call. Each approval is of one call.
func (r *reader) then(m document.Message, args json.RawMessage) Then {
	out := Then{Outcome: verdict.Allow}
	if sum, err := toolbox.Digest(args); err == nil {
		key := m.ToolCall.Name + " " + sum
		at := slices.IndexFunc(r.asked[key], func(a asked) bool { return !a.at.Before(m.CreatedAt) })
		if at >= 0 {
			out.Outcome, out.Decision = verdict.Ask, r.asked[key][at].decision
			r.asked[key] = slices.Delete(r.asked[key], at, at+1)
		}
	}
	if v := m.ToolCall.Verdict; v != nil {
		out.Outcome, out.Rule = v.Outcome, v.Rule
	}
	return out
}

// addSender adds what is known of who sent the message.
func (c *Call) addSender(i *contract.Identity) {
	if i == nil || i.Channel == transfer.Channel {
		c.Unknown = append(c.Unknown, "caller", "chain")
		return
	}
	c.Call.Facts.Caller = &verdict.Caller{Subject: i.Subject, Issuer: i.Issuer, Channel: i.Channel}
	if i.Authenticated() {
		c.Unknown = append(c.Unknown, "caller.groups", "caller.scopes")
	}
	if i.Channel == contract.ChannelA2A {
		c.Unknown = append(c.Unknown, "chain")
	}
}

// addTool adds what is known of the tool.
func (c *Call) addTool(tools map[string]Tool) {
	t, known := tools[c.Call.Tool]
	if !known {
		c.Unknown = append(c.Unknown, "server", "annotations")
		return
	}
	c.Tool = &t
	c.Call.Server, c.Call.Names = t.Server, t.Names
	if t.Own {
		c.Call.Server = toolbox.Call{Arguments: c.Call.Arguments}.To()
	}
	c.Call.ReadOnly, c.Call.Destructive, c.Call.Idempotent = t.ReadOnly, t.Destructive, t.Idempotent
	if t.Partial {
		c.Unknown = append(c.Unknown, "annotations.read_only", "annotations.idempotent")
	}
}

// addFacts adds what the server said of the call then.
func (c *Call) addFacts(v *document.Verdict) {
	if v == nil || len(v.Facts) == 0 {
		return
	}
	var facts map[string]map[string]any
	if json.Unmarshal(v.Facts, &facts) == nil { // else they stay unknown
		c.Call.ServerFacts = facts
	}
}
