package policy

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"agent-stop-and-go/workflows/contract/verdict"
)

// typeFacts begins the names of the types of facts.
const typeFacts = "$facts"

// language is the language of the conditions of a policy: the variables of all conditions, and
// the facts of servers.
type language struct {
	facts []string
	// functions are the members that conditions use as sql.writes("orders").
	functions []string
	untyped   func() (*cel.Env, error)
}

// languageOf returns the language of rules that may read facts.
func languageOf(rules []Rule, facts []string) language {
	l := language{facts: facts, untyped: untyped}
	if len(facts) == 0 {
		return l
	}
	if env, err := untyped(); err == nil {
		for _, r := range rules {
			if parsed, issues := env.Parse(r.When); issues.Err() == nil { // compile reports the mistake
				l.functions = append(l.functions, l.functionsIn(parsed)...)
			}
		}
	}
	slices.Sort(l.functions)
	l.functions = slices.Compact(l.functions)
	env, err := environment(baseObjects(), cel.DynType, l.typed(nil, nil)...)
	l.untyped = func() (*cel.Env, error) { return env, err }
	return l
}

// typed declares the facts. Those with a schema in facts have its types, which are added to o.
func (l language) typed(facts map[string]json.RawMessage, o objects) []cel.EnvOption {
	var out []cel.EnvOption
	overloads := map[string]bool{}
	for _, name := range l.facts {
		t := cel.MapType(cel.StringType, cel.DynType)
		if schema := facts[name]; len(schema) > 0 {
			if known := typeOf(schema, typeFacts+"."+name, o, 0); known.Kind() == types.StructKind {
				t = known
			}
		}
		out = append(out, cel.Variable(name, t))
		for _, f := range l.functions {
			id := "fact_" + t.TypeName() + "_" + f
			if t.Kind() == types.StructKind && !isList(o[t.TypeName()][f]) || overloads[id] {
				continue
			}
			overloads[id] = true
			out = append(out, cel.Function(f, cel.MemberOverload(id, []*cel.Type{t, cel.StringType}, cel.BoolType,
				cel.BinaryBinding(func(fact, text ref.Val) ref.Val { return holds(fact, f, text) }))))
		}
	}
	return out
}

// isList reports whether a member may be a list; nil is no member.
func isList(t *types.Type) bool {
	return t != nil && (t.Kind() == types.ListKind || t.Kind() == types.DynKind)
}

// holds reports whether a list of a fact has a text, in any case.
func holds(fact ref.Val, member string, text ref.Val) ref.Val {
	object, ok := fact.(traits.Mapper)
	if !ok {
		return types.MaybeNoSuchOverloadErr(fact)
	}
	found, ok := object.Find(types.String(member))
	if !ok {
		return types.NewErr("no such key: %s", member)
	}
	list, ok := found.(traits.Lister)
	wanted, isText := text.(types.String)
	if !ok || !isText {
		return types.MaybeNoSuchOverloadErr(found)
	}
	for it := list.Iterator(); it.HasNext() == types.True; {
		one, ok := it.Next().(types.String)
		if !ok {
			return types.NewErr("%s is no list of texts", member)
		}
		if strings.EqualFold(string(one), string(wanted)) {
			return types.True
		}
	}
	return types.False
}

// functionsIn are the members of facts that a condition uses as functions.
func (l language) functionsIn(condition *cel.Ast) (out []string) {
	l.visit(condition, func(_, member string, function bool) {
		if function {
			out = append(out, member)
		}
	})
	return out
}

// membersIn are the members of facts that a condition reads.
func (l language) membersIn(condition *cel.Ast) (out []string) {
	l.visit(condition, func(_, member string, _ bool) { out = append(out, member) })
	return out
}

// readBy are the facts that a condition reads.
func (l language) readBy(condition *cel.Ast) (out []string) {
	ast.PostOrderVisit(condition.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.IdentKind && slices.Contains(l.facts, e.AsIdent()) && !slices.Contains(out, e.AsIdent()) {
			out = append(out, e.AsIdent())
		}
	}))
	return out
}

// visit calls f for each member of a fact in a condition.
func (l language) visit(condition *cel.Ast, f func(fact, member string, function bool)) {
	isFact := func(e ast.Expr) bool { return e.Kind() == ast.IdentKind && slices.Contains(l.facts, e.AsIdent()) }
	ast.PostOrderVisit(condition.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.SelectKind:
			if s := e.AsSelect(); isFact(s.Operand()) {
				f(s.Operand().AsIdent(), s.FieldName(), false)
			}
		case ast.CallKind:
			if c := e.AsCall(); c.IsMemberFunction() && len(c.Args()) == 1 && isFact(c.Target()) {
				f(c.Target().AsIdent(), c.FunctionName(), true)
			}
		}
	}))
}

// FactsFor returns the facts without which rules cannot be evaluated for a call, sorted. It needs
// no fact that could not change the result of a condition.
func (p *Policy) FactsFor(c verdict.Call) []string {
	if p == nil || len(p.language.facts) == 0 {
		return nil
	}
	var out []string
	var values map[string]any
	for i := range p.rules {
		r := &p.rules[i]
		if len(r.facts) == 0 {
			continue
		}
		if values == nil {
			values = activation(c)
		}
		if r.evaluate(values).err != nil {
			out = append(out, r.facts...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

var factName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,29}$`)

// CheckFacts reports what is wrong with names of facts, by their index.
func CheckFacts(names []string, report func(i int, problem string)) {
	for i, name := range names {
		problem := nameProblem(name)
		if problem == "" && slices.Contains(names[:i], name) {
			problem = "is in the list twice"
		}
		if problem != "" {
			report(i, problem)
		}
	}
}

// nameProblem says why facts cannot have a name, or "".
func nameProblem(name string) string {
	if !factName.MatchString(name) {
		return "must begin with a lower-case letter and have lower-case letters, digits and _ only, at most 30"
	}
	if env, err := untyped(); err == nil {
		if _, issues := env.Compile(name); issues.Err() == nil {
			return fmt.Sprintf("conditions have another %s", name)
		}
		if _, issues := env.Parse(name); issues.Err() != nil {
			return fmt.Sprintf("%s has a meaning in conditions", name)
		}
	}
	return ""
}
