package policy

import (
	"slices"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"

	"agent-stop-and-go/workflows/contract/verdict"
)

// Survey is what the rules say about a call of which not everything is known.
type Survey struct {
	// Verdict is the verdict if the rules in Open do not match; nil if no rule matches.
	Verdict *verdict.Verdict
	// Open lists the rules that depend on unknown values and could change the outcome.
	Open []OpenRule
}

// OpenRule is a rule that depends on unknown values.
type OpenRule struct {
	Rule    string          `json:"rule"`
	Outcome verdict.Outcome `json:"outcome"`
	// Missing is what would have to be known, such as args or caller.groups, sorted.
	Missing []string `json:"missing"`
	When    string   `json:"-"` // its condition
}

// Decided reports whether the outcome is the same whatever the unknown values are.
func (s Survey) Decided() bool { return len(s.Open) == 0 }

// Missing lists what would have to be known to decide, sorted.
func (s Survey) Missing() []string {
	var out []string
	for _, o := range s.Open {
		out = append(out, o.Missing...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Survey judges a call of which the given variables, or members of them (caller.groups), are not
// known. Facts of servers that the call does not have are not known either.
func (p *Policy) Survey(c verdict.Call, unknown ...string) Survey {
	if p == nil {
		return Survey{}
	}
	values := activation(c)
	var patterns []*cel.AttributePatternType
	for _, name := range unknown {
		variable, field, isMember := strings.Cut(name, ".")
		pattern := cel.AttributePattern(variable)
		if isMember {
			pattern = pattern.QualString(field)
		} else {
			delete(values, variable)
		}
		patterns = append(patterns, pattern)
	}
	for _, name := range p.language.facts {
		if _, known := values[name]; !known {
			patterns = append(patterns, cel.AttributePattern(name))
		}
	}
	partial, err := cel.PartialVars(values, patterns...)
	if err != nil { // only of values that are no map
		partial = nil
	}
	var found []finding
	var open []OpenRule
	for i := range p.rules {
		f, missing := p.rules[i].survey(partial)
		switch {
		case len(missing) > 0:
			open = append(open, OpenRule{Rule: f.rule.Name, Outcome: f.rule.outcome, Missing: missing, When: f.rule.When})
		case f.matches || f.err != nil:
			found = append(found, f)
		}
	}
	out := Survey{Verdict: p.conclude(found)}
	for _, o := range open {
		// A rule that is not known to match may fail to be evaluated, too, and then asks.
		if changes(out.Verdict, o.Outcome) || changes(out.Verdict, verdict.Ask) {
			out.Open = append(out.Open, o)
		}
	}
	return out
}

// survey evaluates a condition with values of which some are unknown. It returns those that the
// result depends on.
func (c *compiled) survey(values cel.PartialActivation) (f finding, missing []string) {
	program, err := c.partial()
	if err != nil || values == nil {
		return finding{rule: c}, []string{"everything"}
	}
	v, _, err := program.Eval(values)
	if unknown, ok := v.(*types.Unknown); ok && err == nil {
		return finding{rule: c}, attributes(unknown)
	}
	return c.result(v, err), nil
}

// attributes are the variables and members that are unknown.
func attributes(u *types.Unknown) (out []string) {
	for _, id := range u.IDs() {
		trails, _ := u.GetAttributeTrails(id)
		for _, t := range trails {
			name := t.Variable()
			if q := t.QualifierPath(); len(q) > 0 && name != "args" {
				if field, ok := q[0].(string); ok {
					name += "." + field
				}
			}
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// partialProgram compiles a condition for values of which some are unknown, once it is needed.
func partialProgram(env *cel.Env, condition *cel.Ast) func() (cel.Program, error) {
	return sync.OnceValues(func() (cel.Program, error) {
		return env.Program(condition, cel.CostLimit(maxCost), cel.EvalOptions(cel.OptOptimize, cel.OptPartialEval))
	})
}

// ofCalls are the variables that a tool alone does not have.
var ofCalls = []string{"node", "args", "caller", "chain", "usage", "time", "before", "reply"}

// About returns what the rules say about all calls of a tool, of which c has the name, the server
// and the hints; nil if none can be about it.
func (p *Policy) About(c verdict.Call) *verdict.OfTool {
	c.Arguments = []byte(`{}`)
	s := p.Survey(c, ofCalls...)
	switch {
	case s.Decided() && s.Verdict == nil:
		return nil
	case s.Decided():
		return &verdict.OfTool{Outcome: s.Verdict.Outcome, Rule: s.Verdict.Rule}
	}
	out := &verdict.OfTool{On: s.Missing()}
	if s.Verdict != nil {
		out.Depends = []string{s.Verdict.Rule}
	}
	for _, o := range s.Open {
		out.Depends = append(out.Depends, o.Rule)
	}
	return out
}
