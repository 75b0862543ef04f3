// Package verdict has what the named rules of a configuration say about a call: whether it runs,
// waits for people, or is refused. The rules are evaluated in the activity that produces the call,
// recorded with it, and not evaluated again when a history replays.
package verdict

import (
	"encoding/json"
	"time"

	"agent-stop-and-go/workflows/contract/grant"
	"agent-stop-and-go/workflows/contract/reminder"
)

// Outcome is what happens to a call.
type Outcome string

// The outcomes, the most careful last. If several rules match, the most careful one counts.
const (
	Allow  Outcome = "allow"   // runs at once, also a destructive call
	Ask    Outcome = "ask"     // waits for people
	DryRun Outcome = "dry_run" // does not run; the model learns what would have run
	Deny   Outcome = "deny"    // does not run; the model learns why
)

// Outcomes lists the outcomes, the least careful first.
func Outcomes() []Outcome { return []Outcome{Allow, Ask, DryRun, Deny} }

// Verdict is the result of the rules that match a call. A call that no rule matches has none: then
// the hints of its tool decide.
type Verdict struct {
	Outcome Outcome `json:"outcome"`
	// Rule is the name of the rule that decides; with Ask the first one.
	Rule string `json:"rule"`
	// Policy is the version of the rules.
	Policy string `json:"policy"`
	// Text is the rule's own text with Deny, and with Ask why a rule could not be evaluated.
	Text string `json:"text,omitempty"`
	// Asks are the approvals that the call needs, one after the other, with Ask.
	Asks []Approval `json:"asks,omitempty"`
	// Facts are what the tool's server said of the call, by the names of the facts, where a rule
	// needed it. What is large is left out.
	Facts json.RawMessage `json:"facts,omitempty"`
	// Grant is the standing grant because of which a call runs, with Allow, that would ask by Rule.
	Grant *grant.Use `json:"grant,omitempty"`
}

// Approval is one approval that a call needs because of a rule.
type Approval struct {
	Rule string `json:"rule"`
	// By are alternatives, as in package approvers; empty means those of the agent.
	By []string `json:"by,omitempty"`
	// NotRequester excludes the owner of the conversation.
	NotRequester bool `json:"not_requester,omitempty"`
	// Expires is how long the approval waits, in nanoseconds; 0 means as long as the agent's.
	Expires time.Duration `json:"expires,omitempty"`
	// Remind is when people are reminded of it.
	Remind reminder.Plan `json:"remind,omitempty"`
	// Count is how many people must approve, one after the other; 0 is one.
	Count int `json:"count,omitempty"`
	// Keep asks the same people again, without a time limit, after the approval has expired; Then
	// asks others, who are alternatives like By. With neither the call does not run.
	Keep bool     `json:"keep,omitempty"`
	Then []string `json:"then,omitempty"`
	// Edit are the arguments that whoever approves may change; see package edit.
	Edit []string `json:"edit,omitempty"`
	// Always is what whoever approves may grant for later calls; see Verdict.Offer.
	Always *grant.Offer `json:"always,omitempty"`
}

// Call is a call to judge.
type Call struct {
	Tool string
	// Server is the MCP server, or "" for a delegation.
	Server string
	// ReadOnly, Destructive and Idempotent are the hints in force.
	ReadOnly, Destructive, Idempotent bool
	// Arguments are the final arguments: a JSON object. Names are those that the tool knows.
	Arguments json.RawMessage
	Names     []string
	// Node is the node that calls, or "" for an agent without a tree.
	Node string
	// Facts are nil if they are not known. Rules that need them ask then.
	Facts *Facts
	Time  time.Time
	// Before are the earlier calls that the node knows, oldest first; nil if that is not known.
	// Reply are the calls before this one in the same reply of the model.
	Before, Reply []Earlier
	// ServerFacts are what the tool's server says of the call, by the names of the facts: texts,
	// truth values, int64, float64 and lists of texts. FactProblems say why others are not known.
	ServerFacts  map[string]map[string]any
	FactProblems map[string]string
}

// Facts are what the conversation knows of a call.
type Facts struct {
	// Caller is the sender of the message, nil if it is not known what is proven of it.
	Caller *Caller `json:"caller,omitempty"`
	// Owner is the key of the owner of the conversation if that is not Caller.
	Owner string `json:"owner,omitempty"`
	// Chain names the agents that have delegated the work, the nearest last.
	Chain []string `json:"chain,omitempty"`
	Usage Usage    `json:"usage,omitzero"`
}

// Caller is what is proven of the sender of a message; nothing without authentication.
type Caller struct {
	Subject string   `json:"subject,omitempty"`
	Issuer  string   `json:"issuer,omitempty"`
	Groups  []string `json:"groups,omitempty"`
	Scopes  []string `json:"scopes,omitempty"`
	Channel string   `json:"channel,omitempty"`
	// Request is the ID of the message's request.
	Request string `json:"request,omitempty"`
}

// Usage is what the conversation has used.
type Usage struct {
	InputTokens  int64 `json:"input_tokens,omitempty"`
	OutputTokens int64 `json:"output_tokens,omitempty"`
	Calls        int64 `json:"calls,omitempty"` // of models
	// CostNanos is in billionths of the currency of the models' prices.
	CostNanos int64 `json:"cost_nanos,omitempty"`
}

// Earlier is a call that has a result.
type Earlier struct {
	Tool   string `json:"tool"`
	Failed bool   `json:"failed,omitempty"`
}

// Basis is what a call is judged by besides its arguments and the time.
type Basis struct {
	ReadOnly    bool      `json:"read_only,omitempty"`
	Destructive bool      `json:"destructive,omitempty"`
	Idempotent  bool      `json:"idempotent,omitempty"`
	Node        string    `json:"node,omitempty"`
	Facts       *Facts    `json:"facts,omitempty"`
	Before      []Earlier `json:"before"` // null if not known
	Reply       []Earlier `json:"reply,omitempty"`
	Policy      string    `json:"policy,omitempty"` // the version of the rules
}

// Basis returns what the call is judged by.
func (c Call) Basis() Basis {
	return Basis{ReadOnly: c.ReadOnly, Destructive: c.Destructive, Idempotent: c.Idempotent, Node: c.Node, Facts: c.Facts, Before: c.Before, Reply: c.Reply}
}

// Of returns a call with the basis.
func (b Basis) Of(c Call) Call {
	c.ReadOnly, c.Destructive, c.Idempotent, c.Node, c.Facts, c.Before, c.Reply = b.ReadOnly, b.Destructive, b.Idempotent, b.Node, b.Facts, b.Before, b.Reply
	return c
}

// Source returns the rule that decides and the version of the rules, "" without a verdict.
func (v *Verdict) Source() (rule, policy string) {
	if v == nil {
		return "", ""
	}
	return v.Rule, v.Policy
}

// Asking reports whether the call waits for people.
func (v *Verdict) Asking() bool { return v.is(Ask) }

// Unknown reports whether a rule could not be evaluated, so that people are asked.
func (v *Verdict) Unknown() bool { return v.Asking() && v.Text != "" }

// Holding reports whether the call does not run. An outcome that is not known here holds, too.
func (v *Verdict) Holding() bool { return v != nil && !v.Asking() && !v.Allowing() }

// Allowing reports whether the call runs although it is destructive.
func (v *Verdict) Allowing() bool { return v.is(Allow) }

// Offer returns what whoever approves the call may grant for later ones, nil for nothing: that takes
// one person, who is asked for the call as it is.
func (v *Verdict) Offer() *grant.Offer {
	if !v.Asking() || len(v.Asks) != 1 || v.Asks[0].Count > 1 || len(v.Asks[0].Edit) > 0 {
		return nil
	}
	return v.Asks[0].Always
}

// Granted reports whether the call runs because of a standing grant.
func (v *Verdict) Granted() bool { return v.Allowing() && v.Grant != nil }

func (v *Verdict) is(o Outcome) bool { return v != nil && v.Outcome == o }

// Delegation is the delegation of an a2a node, whose arguments the activity makes that has it
// judged.
type Delegation struct {
	Tool        string `json:"tool"`
	Destructive bool   `json:"destructive,omitempty"`
	Node        string `json:"node,omitempty"`
	Facts       *Facts `json:"facts,omitempty"`
}

// OfTool is what the rules say about the calls of a tool, whatever their arguments are.
type OfTool struct {
	// Outcome is the outcome of all calls, by Rule; "" if it depends on the call.
	Outcome Outcome `json:"outcome,omitempty"`
	Rule    string  `json:"rule,omitempty"`
	// Depends are the rules that may be about a call, in order, and On is what they depend on, such as
	// args or caller.groups, sorted.
	Depends []string `json:"depends,omitempty"`
	On      []string `json:"on,omitempty"`
}
