package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"agent-stop-and-go/workflows/contract/approvers"
	"agent-stop-and-go/workflows/contract/grant"
	"agent-stop-and-go/workflows/contract/reminder"
	"agent-stop-and-go/workflows/contract/verdict"
)

// Rule is an item of approval.rules.
type Rule struct {
	Name string `yaml:"name" jsonschema:"required,minLength=1,maxLength=100" jsonschema_description:"The rule's name, unique among all rules. Cards, the record and explanations show it."`
	When string `yaml:"when" jsonschema:"required,minLength=1,maxLength=10000" jsonschema_description:"A condition in CEL about the call: tool, server, node, args, annotations, caller, chain, usage, time and before."`
	Then Then   `yaml:"then" jsonschema:"required,shorthand=outcome" jsonschema_description:"What happens to a call that fulfils the condition: allow, ask, deny or dry_run, or a mapping with details."`
}

// Then is what a rule does.
type Then struct {
	Outcome string `yaml:"outcome" jsonschema:"enum=allow,enum=ask,enum=dry_run,enum=deny" jsonschema_description:"allow: the call runs at once, even a destructive one. ask: it waits for a person, even in parallel and loop nodes. dry_run: it does not run, and the model learns what would have run. deny: it does not run, and the model learns the rule's name."`
	Deny    string `yaml:"deny" jsonschema:"maxLength=1000" jsonschema_description:"deny, with a text for the model and for people."`
	Ask     *Ask   `yaml:"ask" jsonschema_description:"ask, with who decides and how long it waits."`
}

// Ask says how a call waits.
type Ask struct {
	By           []string        `yaml:"by" jsonschema_description:"Who may decide, as in approval.approvers, and instead of those. Needs auth."`
	NotRequester bool            `yaml:"not_requester" jsonschema:"default=false" jsonschema_description:"true: whoever started the conversation may not decide. Needs auth."`
	Count        int             `yaml:"count" jsonschema:"default=1,minimum=1,maximum=10" jsonschema_description:"How many people must approve. They are asked one after the other, and nobody counts twice; one no is enough. More than 1 needs auth."`
	Expires      time.Duration   `yaml:"expires" jsonschema:"default=0s" jsonschema_description:"After this time without a decision the approval expires and the call does not run. 0s: as approval.timeout says."`
	Remind       []time.Duration `yaml:"remind" jsonschema:"single,maxItems=10" jsonschema_description:"When people are reminded of an approval that waits: a time after its opening, or a list of them such as [1h, 4h]. A reminder is a notice of the conversation, and is in the lists of approvals. It decides nothing."`
	OnExpiry     string          `yaml:"on_expiry" jsonschema:"default=stop,enum=stop,enum=keep,enum=escalate" jsonschema_description:"What follows when nobody has decided within expires. The approval has expired in each case. stop: the call does not run. keep: the same people are asked again, without an end. escalate: those in escalate are asked, without an end."`
	Escalate     []string        `yaml:"escalate" jsonschema_description:"Who is asked with on_expiry: escalate, as in approval.approvers. Needs auth."`
	Edit         []string        `yaml:"edit" json:"Edit,omitempty" jsonschema:"maxItems=32" jsonschema_description:"Arguments that whoever approves may change: their names, or paths such as address.city. The changed call is judged by all rules again."`
	Always       *Always         `yaml:"always" json:"Always,omitempty" jsonschema_description:"Lets whoever approves the call say that it need not ask again: for later calls with the same arguments, whoever is asked by the same rules, as they are now."`
}

// Always says what whoever approves a call may grant for later ones.
type Always struct {
	Scopes []string      `yaml:"scopes" jsonschema:"required,minItems=1,enum=turn,enum=conversation,enum=caller,enum=agent" jsonschema_description:"For which later calls that may be, of which one is chosen: turn (in the work for the same message), conversation, caller (in all conversations, in the work for messages of the same caller; needs auth), agent (all)."`
	AtMost time.Duration `yaml:"at_most" jsonschema:"default=24h" jsonschema_description:"For how long at most, up to 2160h."`
	Uses   int           `yaml:"uses" jsonschema:"default=10,minimum=1,maximum=100" jsonschema_description:"For how many later calls at most."`
	Open   []string      `yaml:"open" jsonschema:"maxItems=16" jsonschema_description:"Arguments that may be left open, so that they may have any value of their kind in later calls: their names, or pointers such as /to/city into objects. All others must be equal."`
}

// Values of on_expiry.
const (
	ExpiryStop     = "stop"
	ExpiryKeep     = "keep"
	ExpiryEscalate = "escalate"
)

// outcome returns what the rule does. Of several keys Check accepts one only.
func (t Then) outcome() verdict.Outcome {
	switch {
	case t.Deny != "":
		return verdict.Deny
	case t.Ask != nil:
		return verdict.Ask
	}
	return verdict.Outcome(t.Outcome)
}

// Check reports what is wrong with a rule besides its condition, at a key such as then.ask.by.
// proven reports whether callers prove who they are.
func (r Rule) Check(proven bool, report func(key, problem string)) {
	if r.Then.keys() != 1 {
		report("then", "must be allow, ask, deny, dry_run, or a mapping with deny or ask")
	}
	if a := r.Then.Ask; a != nil {
		a.check(proven, func(key, problem string) { report("then.ask."+key, problem) })
	}
}

// keys counts the keys that say what the rule does.
func (t Then) keys() int {
	n := 0
	for _, set := range []bool{t.Outcome != "", t.Deny != "", t.Ask != nil} {
		if set {
			n++
		}
	}
	return n
}

func (a Ask) check(proven bool, report func(key, problem string)) {
	approvers.CheckAll(a.By, proven, func(key, problem string) { report("by"+key, problem) })
	if slices.Contains(a.By, approvers.Requester) && a.NotRequester {
		report("by", "requester and not_requester exclude each other")
	}
	if a.NotRequester && !proven {
		report("not_requester", "needs auth: with auth: none nobody is known, and whoever reaches the agent decides")
	}
	if a.Count > 1 && !proven {
		report("count", "needs auth: with auth: none nobody is known, and one person can approve twice")
	}
	if a.Expires != 0 && a.Expires < time.Second {
		report("expires", a.Expires.String()+": must be at least 1s")
	}
	if err := reminder.Plan(a.Remind).Check(a.Expires); err != nil {
		report("remind", err.Error())
	}
	for i, name := range a.Edit {
		if strings.TrimSpace(name) != name || slices.Contains(strings.Split(name, "."), "") {
			report(fmt.Sprintf("edit[%d]", i), fmt.Sprintf("%q: must be the name of an argument, or a path such as address.city", name))
		}
	}
	a.checkExpiry(proven, report)
	a.checkAlways(proven, report)
}

// checkAlways checks what may be granted for later calls. Whoever approves must be able to stand for
// all who have to be asked about them.
func (a Ask) checkAlways(proven bool, report func(key, problem string)) {
	if a.Always == nil {
		return
	}
	one := *a.Always
	switch {
	case a.Count > 1:
		report("always", "excludes count: one person cannot approve for several")
	case len(a.Edit) > 0:
		report("always", "excludes edit: later calls are not changed")
	case len(one.Scopes) == 0:
		report("always.scopes", "is required")
	case one.AtMost < time.Minute && one.AtMost != 0 || one.AtMost > grant.MaxTime:
		report("always.at_most", fmt.Sprintf("%s: must be 1m to %s", one.AtMost, grant.MaxTime))
	}
	for i, s := range one.Scopes {
		at := fmt.Sprintf("always.scopes[%d]", i)
		switch s := grant.Scope(s); {
		case !slices.Contains(grant.Scopes(), s):
			report(at, fmt.Sprintf("%q: must be turn, conversation, caller or agent", string(s)))
		case s == grant.Caller && !proven:
			report(at, "caller needs auth: with auth: none nobody is known")
		case a.NotRequester && s != grant.Turn && s != grant.Conversation:
			report(at, fmt.Sprintf("%s excludes not_requester: whoever grants it may be the requester of another conversation", s))
		}
	}
	for i, name := range one.Open {
		if strings.TrimSpace(name) != name || name == "" || slices.Contains(strings.Split(strings.TrimPrefix(name, "/"), "/"), "") {
			report(fmt.Sprintf("always.open[%d]", i), fmt.Sprintf("%q: must be the name of an argument, or a pointer such as /to/city", name))
		}
	}
}

// offer is what whoever approves may grant; nil for nothing.
func (a Ask) offer() *grant.Offer {
	if a.Always == nil {
		return nil
	}
	o := &grant.Offer{AtMost: cmp.Or(a.Always.AtMost, 24*time.Hour), Uses: cmp.Or(a.Always.Uses, 10), Open: a.Always.Open}
	for _, s := range a.Always.Scopes {
		o.Scopes = append(o.Scopes, grant.Scope(s))
	}
	return o
}

// checkExpiry checks what follows when nobody has decided.
func (a Ask) checkExpiry(proven bool, report func(key, problem string)) {
	approvers.CheckAll(a.Escalate, proven, func(key, problem string) { report("escalate"+key, problem) })
	escalates := a.OnExpiry == ExpiryEscalate
	switch {
	case a.OnExpiry != ExpiryStop && a.OnExpiry != "" && a.Expires == 0:
		report("on_expiry", "needs expires")
	case escalates && len(a.Escalate) == 0:
		report("escalate", "is required with on_expiry: escalate")
	case !escalates && len(a.Escalate) > 0:
		report("escalate", "counts only with on_expiry: escalate")
	}
}

// approval returns the approval that the rule asks for.
func (r Rule) approval() verdict.Approval {
	a := cmp.Or(r.Then.Ask, &Ask{})
	out := verdict.Approval{Rule: r.Name, By: a.By, NotRequester: a.NotRequester, Expires: a.Expires, Remind: a.Remind, Edit: a.Edit, Always: a.offer()}
	if a.Count > 1 {
		out.Count = a.Count
	}
	switch a.OnExpiry {
	case ExpiryKeep:
		out.Keep = true
	case ExpiryEscalate:
		out.Then = a.Escalate
	}
	return out
}
