package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"

	"agent-stop-and-go/workflows/contract/approvers"
	"agent-stop-and-go/workflows/contract/verdict"
)

// MaxRules is the greatest number of rules of an agent.
const MaxRules = 1000

// Policy is the rules of an agent, compiled. A nil Policy has no rules.
type Policy struct {
	rules    []compiled
	language language
	version  string
}

type compiled struct {
	Rule
	outcome  verdict.Outcome
	language language
	ast      *cel.Ast
	program  cel.Program
	partial  func() (cel.Program, error) // for values of which some are unknown
	facts    []string                    // names of facts of servers that the condition reads
}

// Mistake is a condition that is no condition.
type Mistake struct {
	Rule int // index
	Text string
}

// New compiles rules. facts are the names of facts of servers that conditions may read. It returns
// all mistakes of their conditions; everything else of a rule is checked with the file. Without
// rules the Policy is nil.
func New(rules []Rule, facts ...string) (*Policy, []Mistake) {
	if len(rules) == 0 {
		return nil, nil
	}
	p := &Policy{version: versionOf(rules), language: languageOf(rules, facts)}
	var mistakes []Mistake
	for i, r := range rules {
		c, err := compile(r, p.language)
		if err != nil {
			mistakes = append(mistakes, Mistake{i, err.Error()})
			continue
		}
		p.rules = append(p.rules, c)
	}
	if len(mistakes) > 0 {
		return nil, mistakes
	}
	return p, nil
}

// Version identifies the rules: 12 hex digits, or "" without rules. Any change of a rule changes it.
func (p *Policy) Version() string {
	if p == nil {
		return ""
	}
	return p.version
}

// Rules returns the rules in order.
func (p *Policy) Rules() []Rule {
	if p == nil {
		return nil
	}
	var out []Rule
	for _, c := range p.rules {
		out = append(out, c.Rule)
	}
	return out
}

func versionOf(rules []Rule) string { return digestOf(rules)[:12] }

func digestOf(rules []Rule) string {
	data, err := json.Marshal(rules)
	if err != nil { // texts, lists, numbers
		panic(fmt.Sprintf("encode rules: %v", err))
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func compile(r Rule, l language) (compiled, error) {
	env, err := l.untyped()
	if err != nil {
		return compiled{}, err
	}
	condition, issues := env.Compile(r.When)
	if issues.Err() != nil {
		return compiled{}, mistakesIn(r.When, issues)
	}
	if t := condition.OutputType(); t.Kind() != types.BoolKind && t.Kind() != types.DynKind {
		return compiled{}, fmt.Errorf("is %s, not true or false", article(t.String()))
	}
	program, err := env.Program(condition, cel.CostLimit(maxCost), cel.EvalOptions(cel.OptOptimize))
	if err != nil { // a pattern that is none
		return compiled{}, fmt.Errorf("is no condition: %w", err)
	}
	c := compiled{Rule: r, outcome: r.Then.outcome(), language: l, ast: condition, program: program, partial: partialProgram(env, condition), facts: l.readBy(condition)}
	if folded, err := fold(env, condition, nil); err == nil && isLiteral(folded, false) {
		return compiled{}, fmt.Errorf("is never true")
	}
	return c, nil
}

// mistakesIn describes what is wrong with a condition, in one line.
func mistakesIn(when string, issues *cel.Issues) error {
	var texts []string
	for _, e := range issues.Errors() {
		text, _, _ := strings.Cut(strings.TrimPrefix(e.Message, "Syntax error: "), " expecting {")
		if at := excerpt(when, e.Location.Line(), e.Location.Column()); at != "" {
			text += fmt.Sprintf(" at %q", at)
		}
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	if len(texts) > 3 {
		texts = append(texts[:3], "…")
	}
	return fmt.Errorf("is no condition: %s", strings.Join(texts, "; "))
}

// excerpt is the beginning of a condition from a line (from 1) and column (from 0, in characters).
func excerpt(when string, line, column int) string {
	lines := strings.Split(when, "\n")
	if line < 1 || line > len(lines) {
		return ""
	}
	rest := []rune(lines[line-1])
	if column < 0 || column >= len(rest) {
		return ""
	}
	return string(rest[column:min(len(rest), column+20)])
}

func article(noun string) string {
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// Groups lists the groups that the rules may name: those of who decides, and every text in a
// condition that may be one.
func (p *Policy) Groups() []string {
	var out []string
	for _, r := range p.Rules() {
		if a := r.Then.Ask; a != nil {
			out = append(out, approvers.Groups(slices.Concat(a.By, a.Escalate))...)
		}
	}
	if p != nil {
		for _, c := range p.rules {
			out = append(out, texts(c.ast)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// texts are the literals of a condition.
func texts(condition *cel.Ast) (out []string) {
	ast.PostOrderVisit(condition.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) { out = append(out, literals(e)...) }))
	return out
}
