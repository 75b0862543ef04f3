package standing

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/grant"
	"agent-stop-and-go/workflows/contract/verdict"
)

// Terms are what a grant is for. They never change.
type Terms struct {
	// ID is the UUID of the approval with which it is given.
	ID           string `json:"id"`
	Conversation string `json:"conversation_id"` // of the approval
	Agent        string `json:"agent"`
	Node         string `json:"node,omitempty"`
	Server       string `json:"server"`
	Tool         string `json:"tool"`
	// Address and Definition are those of the contract.Binding.
	Address    string          `json:"address"`
	Definition string          `json:"definition_sha256"`
	Arguments  grant.Arguments `json:"arguments"`
	// Rule is the rule that asks, Rules the digest of all that match the call, and Policy the version
	// of the rules of the agent.
	Rule   string      `json:"rule"`
	Rules  string      `json:"rules_sha256"`
	Policy string      `json:"policy"`
	Scope  grant.Scope `json:"scope"`
	// Of is whose calls those are: the conversation and the request of the message, the conversation,
	// the key of the caller, or "" for all of the agent.
	Of    string    `json:"of,omitempty"`
	Until time.Time `json:"until"`
	Uses  int       `json:"uses"`
}

// Call is a call that a grant may cover.
type Call struct {
	// Key is the same in each attempt at the activity that returns the call.
	Key                                     string
	Conversation, Turn, Caller              string
	Agent                                   string
	Node, Server, Tool, Address, Definition string
	Rules                                   string
	Arguments                               json.RawMessage
	// Owner is the key of the owner of the conversation, "" for nobody. Asks is what the rules demand, and
	// Approvers who may approve it by them and those of the agent.
	Owner     string
	Asks      verdict.Approval
	Approvers []string
}

// Of returns whose calls a scope means, "" also if that is not known.
func of(s grant.Scope, conversation, turn, caller string) string {
	switch {
	case s == grant.Turn && turn != "":
		return conversation + " " + turn
	case s == grant.Conversation:
		return conversation
	case s == grant.Caller:
		return caller
	}
	return ""
}

// Propose returns what a grant would be for that is given with an approval, as somebody chooses.
func Propose(p contract.PendingApproval, c grant.Choice, now time.Time) (t Terms, err error) {
	if err := p.Always.Check(c, now); err != nil {
		return t, err
	}
	o := p.Always
	t = Terms{
		ID: p.UUID, Conversation: p.ConversationID, Agent: p.AgentName, Node: o.Node, Server: p.Server, Tool: p.ToolName, Rule: p.Rule, Rules: o.Rules, Policy: p.Policy,
		Scope: c.Scope, Of: of(c.Scope, p.ConversationID, o.Turn, o.Caller), Until: c.Until.UTC().Truncate(time.Second), Uses: c.Uses,
	}
	switch {
	case p.Binding == nil || p.Binding.SHA256 == "" || p.ToolArgs.Blob != nil:
		return t, errors.New("always: it is not known what the call is bound to, so that no later one can be told to be the same")
	case c.Scope != grant.Agent && t.Of == "":
		return t, fmt.Errorf("always: it is not known whose calls scope %s would be about", c.Scope)
	}
	t.Address, t.Definition = p.Binding.Address, p.Binding.SHA256
	if t.Arguments, err = grant.Of(p.ToolArgs.Raw, c.Open); err != nil {
		return t, fmt.Errorf("always: %w", err)
	}
	return t, nil
}

// Confirmed is Propose for a choice that somebody has made who was shown the terms.
func Confirmed(p contract.PendingApproval, c grant.Choice, now time.Time) (Terms, error) {
	t, err := Propose(p, c, now)
	if err == nil && t.Digest() != c.Digest {
		err = errors.New("always: digest is not that of what is granted; have it shown again")
	}
	return t, err
}

// Digest identifies the terms.
func (t Terms) Digest() string {
	raw, err := json.Marshal(t)
	if err != nil { // texts and numbers
		return ""
	}
	return contract.Hash(raw)
}

// Covers reports whether a call is one that the grant is for, at a time.
func (t Terms) Covers(c Call, now time.Time) bool {
	whose := of(t.Scope, c.Conversation, c.Turn, c.Caller)
	return now.Before(t.Until) && (t.Scope == grant.Agent || whose != "" && whose == t.Of) && slices.Contains(grant.Scopes(), t.Scope) &&
		t.Agent == c.Agent && t.Node == c.Node && t.Server == c.Server && t.Tool == c.Tool && t.Address == c.Address && t.Definition == c.Definition &&
		t.Definition != "" && t.Rules != "" && t.Rules == c.Rules && t.Arguments.Cover(c.Arguments)
}

// Text says what is granted, in words. What comes from elsewhere is quoted.
func (t Terms) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Until %s, up to %s of the tool %q of the server %q may run without asking", t.Until.Format("2006-01-02 15:04:05 MST"), calls(t.Uses), t.Tool, t.Server)
	if t.Node != "" {
		fmt.Fprintf(&b, ", made by the node %q", t.Node)
	}
	b.WriteString(" " + map[grant.Scope]string{
		grant.Turn:         "in the work for the same message",
		grant.Conversation: "in the same conversation",
		grant.Caller:       fmt.Sprintf("in the work for messages of %q in any conversation", t.Of),
		grant.Agent:        fmt.Sprintf("in any conversation of the agent %q, whoever it is with", t.Agent),
	}[t.Scope])
	fmt.Fprintf(&b, ", if the arguments are exactly %s", t.Arguments.Rest)
	for i, o := range t.Arguments.Open {
		sep := ", and"
		if i == 0 {
			sep = " beside"
		}
		fmt.Fprintf(&b, "%s %q, which may be any %s", sep, o.Name, o.Kind)
	}
	fmt.Fprintf(&b, ". A call asks again as soon as the server, the tool or the rules about it (now %q of version %s) are others, and where whoever grants this may not approve it.", t.Rule, t.Policy)
	return b.String()
}

func calls(n int) string {
	if n == 1 {
		return "1 call"
	}
	return fmt.Sprintf("%d calls", n)
}
