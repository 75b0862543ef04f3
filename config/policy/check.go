package policy

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"

	"agent-stop-and-go/config/spelling"
)

// Tool is a live tool that rules are checked against.
type Tool struct {
	Name, Server string
	// Schema is the JSON Schema of its arguments.
	Schema json.RawMessage
	// Facts are the facts that its server tells about its calls, by their names, with the JSON
	// Schema of each, which may be absent.
	Facts map[string]json.RawMessage
}

// Fault is what is wrong with a rule for the live tools.
type Fault struct {
	Rule int // index
	Name string
	Text string
	// Fatal means that the rule can never match as it is written. Otherwise it fits some tools,
	// and asks for the calls of another.
	Fatal bool
	// File and Line are where the rule is written, if that is known.
	File string
	Line int
}

// String returns the fault in one line, with its place.
func (f Fault) String() string {
	at := ""
	if f.File != "" {
		at = fmt.Sprintf("%s:%d: ", f.File, f.Line)
	}
	return fmt.Sprintf("%srule %s %s", at, f.Name, f.Text)
}

// Check finds rules that match the calls of no tool, and arguments that tools do not have. tools
// must be complete: a rule about a tool that is not among them can never match. A rule that says
// nothing about tools is checked against all of them.
func (p *Policy) Check(tools []Tool) []Fault {
	if p == nil {
		return nil
	}
	var out []Fault
	for i, c := range p.rules {
		for _, f := range c.check(tools) {
			f.Rule, f.Name = i, c.Name
			out = append(out, f)
		}
	}
	return out
}

func (c compiled) check(tools []Tool) []Fault {
	concerned, fits := 0, 0
	var misfits []Fault
	for _, t := range tools {
		rest, err := c.about(t)
		if err != nil || isLiteral(rest, false) {
			continue
		}
		concerned++
		if problem := c.misfit(rest, t); problem != "" {
			misfits = append(misfits, Fault{Text: fmt.Sprintf("%s of %s", problem, t.Name)})
			continue
		}
		fits++
	}
	switch {
	case concerned == 0:
		return []Fault{{Text: "concerns no tool" + c.nearest(tools), Fatal: true}}
	case fits == 0:
		misfits[0].Fatal = true
		return misfits[:1]
	case len(misfits) > 0:
		return []Fault{{Text: fmt.Sprintf("asks for every call of %s: %s", tooMany(misfits), misfits[0].Text)}}
	}
	return nil
}

// tooMany counts the tools for which a rule asks.
func tooMany(misfits []Fault) string {
	if len(misfits) == 1 {
		return "a tool"
	}
	return fmt.Sprintf("%d tools", len(misfits))
}

// about returns what is left of the condition for the calls of a tool.
func (c compiled) about(t Tool) (*cel.Ast, error) {
	env, err := c.language.untyped()
	if err != nil {
		return nil, err
	}
	return fold(env, c.ast, map[string]any{"tool": t.Name, "server": t.Server})
}

// fold replaces what is known of a condition by its value.
func fold(env *cel.Env, condition *cel.Ast, known map[string]any) (*cel.Ast, error) {
	values, err := cel.NewActivation(known)
	if err != nil {
		return nil, err
	}
	folding, err := cel.NewConstantFoldingOptimizer(cel.FoldKnownValues(values))
	if err != nil {
		return nil, err
	}
	optimizer, err := cel.NewStaticOptimizer(folding)
	if err != nil {
		return nil, err
	}
	folded, issues := optimizer.Optimize(env, condition)
	if issues.Err() != nil {
		return nil, issues.Err()
	}
	return folded, nil
}

func isLiteral(a *cel.Ast, want bool) bool {
	e := a.NativeRep().Expr()
	return e.Kind() == ast.LiteralKind && e.AsLiteral() == types.Bool(want)
}

// misfit says what of a condition does not fit the arguments and facts of a tool, or "".
func (c compiled) misfit(condition *cel.Ast, t Tool) string {
	for _, name := range c.language.readBy(condition) {
		if _, known := t.Facts[name]; !known {
			return fmt.Sprintf("there are no facts %s", name)
		}
	}
	text, err := cel.AstToString(condition)
	if err != nil {
		return ""
	}
	o := baseObjects()
	args := argumentType(t.Schema, o)
	env, err := environment(o, args, c.language.typed(t.Facts, o)...)
	if err != nil {
		return ""
	}
	_, issues := env.Compile(text)
	if issues.Err() == nil {
		return ""
	}
	return typeProblem(issues.Errors()[0].Message, o, c.language.membersIn(condition))
}

var undefinedField = regexp.MustCompile(`^undefined field '(.+)'$`)

// typeProblem words the first mistake that a tool's types show. facts are the members that the
// condition reads of facts.
func typeProblem(message string, o objects, facts []string) string {
	m := undefinedField.FindStringSubmatch(message)
	if m == nil {
		return "its condition does not fit the arguments (" + message + ")"
	}
	what, of := "argument", typeArguments
	if slices.Contains(facts, m[1]) {
		what, of = "fact", typeFacts
	}
	var known []string
	for name, fields := range o {
		if name == of || strings.HasPrefix(name, of+".") {
			known = append(known, sortedKeys(fields)...)
		}
	}
	slices.Sort(known)
	if similar := spelling.Similar(m[1], known); similar != "" {
		return fmt.Sprintf("there is no %s %s (did you mean %s?)", what, m[1], similar)
	}
	return fmt.Sprintf("there is no %s %s", what, m[1])
}

// nearest names a tool or server that a condition may mean.
func (c compiled) nearest(tools []Tool) string {
	var tool, server []string
	for _, t := range tools {
		tool, server = append(tool, t.Name), append(server, t.Server)
	}
	for _, known := range []struct {
		variable string
		names    []string
	}{{"tool", tool}, {"server", server}} {
		for _, name := range compared(c.ast, known.variable) {
			if slices.Contains(known.names, name) {
				continue
			}
			if similar := spelling.Similar(name, known.names); similar != "" {
				return fmt.Sprintf(": there is no %s %s (did you mean %s?)", known.variable, name, similar)
			}
			return fmt.Sprintf(": there is no %s %s", known.variable, name)
		}
	}
	return ""
}

// compared returns the texts that a condition compares with a variable.
func compared(condition *cel.Ast, variable string) []string {
	var out []string
	ast.PostOrderVisit(condition.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind {
			return
		}
		call := e.AsCall()
		if f := call.FunctionName(); f != operators.Equals && f != operators.In {
			return
		}
		var texts []string
		mentioned := false
		for _, a := range call.Args() {
			mentioned = mentioned || a.Kind() == ast.IdentKind && a.AsIdent() == variable
			texts = append(texts, literals(a)...)
		}
		if mentioned {
			out = append(out, texts...)
		}
	}))
	return out
}

// literals returns the texts of an expression that is a text or a list of them.
func literals(e ast.Expr) []string {
	switch e.Kind() {
	case ast.LiteralKind:
		if text, ok := e.AsLiteral().(types.String); ok {
			return []string{string(text)}
		}
	case ast.ListKind:
		var out []string
		for _, item := range e.AsList().Elements() {
			out = append(out, literals(item)...)
		}
		return out
	}
	return nil
}
