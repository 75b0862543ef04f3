package policy

import (
	"fmt"
	"slices"
	"strings"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"agent-stop-and-go/workflows/contract/verdict"
)

// Judge returns what the rules say about a call, or nil if no rule matches it.
func (p *Policy) Judge(c verdict.Call) *verdict.Verdict {
	if p == nil {
		return nil
	}
	values := activation(c)
	var found []finding
	for i := range p.rules {
		if f := p.rules[i].evaluate(values); f.matches || f.err != nil {
			found = append(found, f.because(c.FactProblems))
		}
	}
	return p.conclude(found)
}

// because adds to an error why a fact is not known that the rule reads.
func (f finding) because(problems map[string]string) finding {
	for _, name := range f.rule.facts {
		if why := problems[name]; why != "" && f.err != nil {
			f.err = fmt.Errorf("%w: %s", f.err, why)
		}
	}
	return f
}

// finding is the result of a rule's condition.
type finding struct {
	rule    *compiled
	matches bool
	err     error
}

// outcome is what the rule does. One that cannot be evaluated asks.
func (f finding) outcome() verdict.Outcome {
	if f.err != nil {
		return verdict.Ask
	}
	return f.rule.outcome
}

func (c *compiled) evaluate(values map[string]any) finding {
	v, _, err := c.program.Eval(values)
	return c.result(v, err)
}

// result is the finding of an evaluation.
func (c *compiled) result(v ref.Val, err error) finding {
	if err != nil {
		return finding{rule: c, err: readable(err)}
	}
	matches, ok := v.(types.Bool)
	if !ok {
		return finding{rule: c, err: fmt.Errorf("it is %s, not true or false", article(v.Type().TypeName()))}
	}
	return finding{rule: c, matches: bool(matches)}
}

// readable shortens an error of an evaluation.
func readable(err error) error {
	text := err.Error()
	switch {
	case strings.Contains(text, "cost limit exceeded"):
		text = "its evaluation costs too much"
	case strings.HasPrefix(text, "no such attribute(s): "):
		text = strings.TrimPrefix(text, "no such attribute(s): ") + " is not known"
	case strings.HasPrefix(text, "no such key: "):
		text = "there is no " + strings.TrimPrefix(text, "no such key: ")
	case strings.HasPrefix(text, "no such overload"):
		text = "the types of its values do not fit"
	}
	if r := []rune(text); len(r) > 200 {
		text = string(r[:200]) + "…"
	}
	return fmt.Errorf("%s", text)
}

// conclude returns the most careful outcome of what was found.
func (p *Policy) conclude(found []finding) *verdict.Verdict {
	if len(found) == 0 {
		return nil
	}
	order := verdict.Outcomes()
	most := slices.MaxFunc(found, func(a, b finding) int {
		return slices.Index(order, a.outcome()) - slices.Index(order, b.outcome())
	})
	v := &verdict.Verdict{Outcome: most.outcome(), Policy: p.version}
	for _, f := range found {
		if f.outcome() != v.Outcome {
			continue
		}
		if v.Rule == "" {
			v.Rule = f.rule.Name
			if f.err == nil { // a rule that would deny asks for another reason
				v.Text = f.rule.Then.Deny
			}
		}
		if f.err != nil && v.Text == "" {
			v.Text = fmt.Sprintf("the rule %s could not be evaluated: %v", f.rule.Name, f.err)
		}
		if v.Outcome == verdict.Ask {
			v.Asks = add(v.Asks, f)
		}
	}
	bind(v, found)
	return v
}

// bind says of which rules an offer for later calls is: all that are about the call, also those that
// ask for less. One that could not be evaluated may be about anything.
func bind(v *verdict.Verdict, found []finding) {
	if v.Outcome != verdict.Ask {
		return
	}
	var rules []Rule
	known := true
	for _, f := range found {
		rules, known = append(rules, f.rule.Rule), known && f.err == nil
	}
	for i, a := range v.Asks {
		if a.Always != nil && known && v.Offer() != nil {
			o := *a.Always
			o.Rules = digestOf(rules)
			v.Asks[i].Always = &o
		} else {
			v.Asks[i].Always = nil
		}
	}
}

// add adds the approval that a rule asks for. One that demands nothing of its own, or the same as
// another, adds none.
func add(asks []verdict.Approval, f finding) []verdict.Approval {
	a := f.rule.approval() // of a rule that cannot be evaluated: only if it asks
	i := slices.IndexFunc(asks, func(b verdict.Approval) bool { return demands(a, b) })
	switch {
	case len(asks) == 0:
		return []verdict.Approval{a}
	case len(asks) == 1 && plain(asks[0]):
		return []verdict.Approval{stricter(a, asks[0])}
	case i >= 0:
		asks[i] = stricter(asks[i], a)
		return asks
	case plain(a):
		asks[0] = stricter(asks[0], a)
		return asks
	}
	return append(asks, a)
}

// demands reports whether two approvals are for the same people.
func demands(a, b verdict.Approval) bool {
	return a.NotRequester == b.NotRequester && slices.Equal(a.By, b.By)
}

func plain(a verdict.Approval) bool { return len(a.By) == 0 && !a.NotRequester && a.Count == 0 }

// stricter returns the first approval with what the second demands in addition. If one of them
// ends without a successor, so does the result.
func stricter(a, b verdict.Approval) verdict.Approval {
	ends := stops(a) || stops(b)
	a.Count, a.Remind = max(a.Count, b.Count), a.Remind.Merge(b.Remind)
	a.Edit = slices.DeleteFunc(slices.Clone(a.Edit), func(name string) bool { return !slices.Contains(b.Edit, name) })
	a.Always = a.Always.And(b.Always)
	if b.Expires != 0 && sooner(a.Expires, b.Expires) == b.Expires {
		a.Expires, a.Keep, a.Then = b.Expires, b.Keep, b.Then
	}
	if ends {
		a.Keep, a.Then = false, nil
	}
	return a
}

// stops reports whether the call does not run after the approval has expired.
func stops(a verdict.Approval) bool { return a.Expires != 0 && !a.Keep && len(a.Then) == 0 }

// sooner returns the shorter of two times; 0 is no limit.
func sooner[T ~int64](a, b T) T {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
