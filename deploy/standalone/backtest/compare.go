package backtest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"agent-stop-and-go/config/policy"
	"agent-stop-and-go/workflows/contract/verdict"
)

// Kind is what changes for a call.
type Kind string

// The kinds.
const (
	Same      Kind = "same"
	Loosened  Kind = "loosened"  // less careful
	Tightened Kind = "tightened" // more careful
	Other     Kind = "other"     // as careful, but other people are asked, or another rule decides
	Unclear   Kind = "unclear"   // what is not known decides
)

// Kinds lists those that a command can fail on.
func Kinds() []Kind { return []Kind{Loosened, Tightened, Other, Unclear} }

// Hints is the outcome if no rule is about a call and the hints of its tool are not known.
const Hints verdict.Outcome = "hints"

// Side is the outcome of a call before or after a change.
type Side struct {
	// Outcome is allow, ask, dry_run, deny, or Hints.
	Outcome verdict.Outcome `json:"outcome"`
	// Rule is the rule that decides; "" are the hints of the tool.
	Rule string `json:"rule,omitempty"`
	// Text is why a rule could not be evaluated, or what it tells the model.
	Text string `json:"text,omitempty"`
	// Open lists the rules that depend on unknown values and could change the outcome.
	Open []policy.OpenRule `json:"open,omitempty"`

	asks []verdict.Approval
}

// Text of a side for people.
func (s Side) String() string {
	out := string(s.Outcome)
	switch {
	case s.Rule != "":
		out += " by " + s.Rule
	case s.Outcome == Hints:
		out = "as the tool's hints say"
	}
	for i, o := range s.Open {
		if i == 3 {
			out += ", …"
			break
		}
		out += fmt.Sprintf(", or %s by %s (%s is not known)", o.Outcome, o.Rule, strings.Join(o.Missing, ", "))
	}
	return out
}

// Change is what changes for a call.
type Change struct {
	Kind Kind `json:"kind"`
	// MayLoosen is set if an unclear change can be one to a less careful outcome.
	MayLoosen bool `json:"may_loosen,omitempty"`
	Before    Side `json:"before"`
	After     Side `json:"after"`
}

// Past is the side of what happened to a call.
func (c Call) Past() Side { return Side{Outcome: c.Then.Outcome, Rule: c.Then.Rule} }

// Judge is the side of rules, of which nil has none.
func (c Call) Judge(p *policy.Policy) Side {
	s := p.Survey(c.Call, c.Unknown...)
	out := Side{Outcome: c.hints(), Open: s.Open}
	if v := s.Verdict; v != nil {
		out.Outcome, out.Rule, out.Text, out.asks = v.Outcome, v.Rule, v.Text, v.Asks
	}
	return out
}

// hints is the outcome if no rule is about the call.
func (c Call) hints() verdict.Outcome {
	switch {
	case c.Tool != nil && c.Tool.Destructive:
		return verdict.Ask
	case c.Tool != nil:
		return verdict.Allow
	case c.Then.Rule == "": // the hints decided then
		return c.Then.Outcome
	}
	return Hints
}

// Compare returns what changes from one side to the other.
func Compare(before, after Side) Change {
	c := Change{Kind: kind(before, after), Before: before, After: after}
	_, was := before.bounds()
	is, _ := after.bounds()
	c.MayLoosen = c.Kind == Unclear && is < was
	return c
}

// bounds are the least and the most careful outcome that a side may have.
func (s Side) bounds() (least, most int) {
	order := verdict.Outcomes()
	least, most = slices.Index(order, s.Outcome), slices.Index(order, s.Outcome)
	if s.Outcome == Hints {
		least, most = slices.Index(order, verdict.Allow), slices.Index(order, verdict.Ask)
	}
	for _, o := range s.Open {
		most = max(most, slices.Index(order, o.Outcome), slices.Index(order, verdict.Ask))
		if s.Rule == "" { // the hints count only if no rule matches
			least = min(least, slices.Index(order, o.Outcome))
		}
	}
	return least, most
}

func kind(before, after Side) Kind {
	order := verdict.Outcomes()
	was, is := slices.Index(order, before.Outcome), slices.Index(order, after.Outcome)
	switch {
	case before.open() || after.open():
		if reflect.DeepEqual(before, after) {
			return Same // whatever is not known
		}
		return Unclear
	case was != is && (was < 0 || is < 0):
		return Unclear
	case is < was:
		return Loosened
	case is > was:
		return Tightened
	case before.asks != nil && after.asks != nil && !reflect.DeepEqual(before.asks, after.asks):
		return Other
	}
	return Same
}

func (s Side) open() bool { return len(s.Open) > 0 }
