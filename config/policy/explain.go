package policy

import (
	"encoding/json"
	"fmt"
	"slices"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"

	"agent-stop-and-go/workflows/contract/verdict"
)

// Explanation says how the rules came to a verdict.
type Explanation struct {
	// Verdict is nil if no rule matches.
	Verdict *verdict.Verdict `json:"verdict"`
	// Matching are the rules that match or cannot be evaluated, in order.
	Matching []Reason `json:"matching,omitempty"`
	// Nearest are the rules that would have changed the outcome and that the least keeps from
	// matching.
	Nearest []Reason `json:"nearest,omitempty"`
}

// Reason is the part of one rule.
type Reason struct {
	Rule    string          `json:"rule"`
	Outcome verdict.Outcome `json:"outcome"`
	// Error is why the condition could not be evaluated.
	Error string `json:"error,omitempty"`
	// Unmet are the parts of the condition, joined by &&, that are not true.
	Unmet []string `json:"unmet,omitempty"`
	// Values are the values that the condition reads; in a Nearest rule those of the unmet parts.
	Values []Value `json:"values,omitempty"`
}

// Value is what a part of a condition evaluates to.
type Value struct {
	Text  string          `json:"text"`
	Value json.RawMessage `json:"value"`
}

// Explain judges a call and says why.
func (p *Policy) Explain(c verdict.Call) Explanation {
	out := Explanation{Verdict: p.Judge(c)}
	if p == nil {
		return out
	}
	values := activation(c)
	var missed []Reason
	for i := range p.rules {
		f := p.rules[i].evaluate(values)
		r := Reason{Rule: f.rule.Name, Outcome: f.outcome()}
		switch {
		case f.err != nil:
			r.Error = f.err.Error()
			fallthrough
		case f.matches:
			r.Values = f.rule.read([]ast.Expr{f.rule.ast.NativeRep().Expr()}, values)
			out.Matching = append(out.Matching, r)
		case changes(out.Verdict, f.rule.outcome):
			var unmet []ast.Expr
			r.Unmet, unmet = f.rule.unmet(values)
			r.Values = f.rule.read(unmet, values)
			missed = append(missed, r)
		}
	}
	out.Nearest = nearest(missed)
	return out
}

// changes reports whether a further rule that matches would change a verdict.
func changes(v *verdict.Verdict, o verdict.Outcome) bool {
	order := verdict.Outcomes()
	return v == nil || slices.Index(order, o) > slices.Index(order, v.Outcome)
}

// nearest returns the reasons with the fewest unmet parts, at most three.
func nearest(missed []Reason) []Reason {
	fewest := 0
	for _, r := range missed {
		if fewest == 0 || len(r.Unmet) < fewest {
			fewest = len(r.Unmet)
		}
	}
	missed = slices.DeleteFunc(missed, func(r Reason) bool { return len(r.Unmet) > fewest })
	return missed[:min(len(missed), 3)]
}

// unmet returns the parts of a condition that are not true.
func (c *compiled) unmet(values map[string]any) (texts []string, parts []ast.Expr) {
	for _, part := range conjuncts(c.ast.NativeRep().Expr()) {
		text, v, err := c.evaluatePart(part, values)
		if err == nil && v == types.True {
			continue
		}
		texts, parts = append(texts, text), append(parts, part)
	}
	return texts, parts
}

func conjuncts(e ast.Expr) []ast.Expr {
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != operators.LogicalAnd {
		return []ast.Expr{e}
	}
	var out []ast.Expr
	for _, a := range e.AsCall().Args() {
		out = append(out, conjuncts(a)...)
	}
	return out
}

// evaluatePart evaluates a part of a condition, and returns its text.
func (c *compiled) evaluatePart(part ast.Expr, values map[string]any) (string, any, error) {
	text, err := cel.ExprToString(part, c.ast.NativeRep().SourceInfo())
	if err != nil {
		return "", nil, err
	}
	env, err := c.language.untyped()
	if err != nil {
		return text, nil, err
	}
	compiled, issues := env.Compile(text)
	if issues.Err() != nil { // a variable of a comprehension
		return text, nil, issues.Err()
	}
	program, err := env.Program(compiled, cel.CostLimit(maxCost))
	if err != nil {
		return text, nil, err
	}
	v, _, err := program.Eval(values)
	return text, v, err
}

// maxShown is the greatest number of values of an explanation, and of the bytes of one.
const (
	maxShown      = 20
	maxShownBytes = 200
)

// read returns the variables and members that parts of a condition read, with their values.
func (c *compiled) read(parts []ast.Expr, values map[string]any) []Value {
	var out []Value
	for _, part := range parts {
		inner := map[int64]bool{} // operands of longer paths
		ast.PreOrderVisit(part, ast.NewExprVisitor(func(e ast.Expr) {
			if e.Kind() == ast.SelectKind && !inner[e.ID()] || e.Kind() == ast.IdentKind && !inner[e.ID()] {
				markOperands(e, inner)
				text, v, err := c.evaluatePart(e, values)
				if err == nil && len(out) < maxShown && !slices.ContainsFunc(out, func(o Value) bool { return o.Text == text }) {
					out = append(out, Value{text, shown(v)})
				}
			}
		}))
	}
	return out
}

func markOperands(e ast.Expr, inner map[int64]bool) {
	for e.Kind() == ast.SelectKind {
		e = e.AsSelect().Operand()
		inner[e.ID()] = true
	}
}

// shown is a value as JSON, cut where it is long.
func shown(v any) json.RawMessage {
	value, ok := v.(interface{ Value() any })
	if !ok {
		return json.RawMessage(`null`)
	}
	data, err := json.Marshal(value.Value())
	if err != nil {
		data, _ = json.Marshal(fmt.Sprint(value.Value()))
	}
	if len(data) > maxShownBytes {
		data, _ = json.Marshal(string([]rune(string(data))[:maxShownBytes/4]) + "…")
	}
	return data
}
