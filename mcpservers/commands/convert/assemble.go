package convert

import (
	"cmp"
	"slices"
	"strings"

	"agent-stop-and-go/mcpservers/commands/script"

	"mvdan.cc/sh/v3/syntax"
)

// assembly makes arrays of the variables in which a script collects the text of a command for eval:
//
//	cmd="find $dir"                cmd=(find "${dir}")
//	cmd+=" -name '*$suffix'"       cmd+=(-name '*'"${suffix}")
//	eval "$cmd -type f"            "${cmd[@]}" -type f
//
// A value is then one word, and never code.
type assembly struct {
	text    string
	file    *syntax.File
	sources map[string]bool
	parents map[syntax.Node]syntax.Node
	texts   map[string]bool // variables that hold text of commands
	values  map[string]bool // variables that are used as one value
	copied  []syntax.Node   // expansions that are used as they are
	queue   []string
	edits   []edit
	known   bool // nothing was met that cannot be rewritten
}

type edit struct {
	from, to int
	text     string
}

// assemble returns the script without eval, or as it is if it does more with the text of a command than
// to collect words.
func assemble(text string, sources map[string]bool) string {
	file, err := script.Parse(text, false)
	if err != nil {
		return text
	}
	a := &assembly{text: text, file: file, sources: sources, parents: map[syntax.Node]syntax.Node{}, texts: map[string]bool{}, values: map[string]bool{}, known: true}
	var path []syntax.Node
	var evals []*syntax.CallExpr
	syntax.Walk(file, func(n syntax.Node) bool {
		if n == nil {
			path = path[:len(path)-1]
			return true
		}
		if len(path) > 0 {
			a.parents[n] = path[len(path)-1]
		}
		path = append(path, n)
		if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 1 && call.Args[0].Lit() == "eval" {
			evals = append(evals, call)
		}
		return true
	})
	for _, call := range evals {
		a.eval(call)
	}
	for at := 0; at < len(a.queue); at++ {
		a.variable(a.queue[at], evals)
	}
	if !a.known || len(evals) == 0 || a.contradicts() {
		return text
	}
	slices.SortFunc(a.edits, func(x, y edit) int { return cmp.Compare(y.from, x.from) })
	for _, e := range a.edits {
		text = text[:e.from] + e.text + text[e.to:]
	}
	return text
}

// contradicts reports whether a variable is text of commands in one place and a value in another.
func (a *assembly) contradicts() (found bool) {
	for name := range a.texts {
		found = found || a.values[name]
	}
	for _, n := range a.copied {
		syntax.Walk(n, func(n syntax.Node) bool {
			p, ok := n.(*syntax.ParamExp)
			found = found || ok && p.Param != nil && a.texts[p.Param.Value]
			return true
		})
	}
	return found
}

func (a *assembly) replace(n syntax.Node, text string) {
	a.edits = append(a.edits, edit{int(n.Pos().Offset()), int(n.End().Offset()), text})
}

// eval replaces eval by the command that its text is.
func (a *assembly) eval(call *syntax.CallExpr) {
	var parts []syntax.WordPart
	for i, arg := range call.Args[1:] {
		if i > 0 {
			parts = append(parts, &syntax.Lit{Value: " "})
		}
		parts = append(parts, arg.Parts...)
	}
	f := a.fragment(parts)
	words, redirects := a.words(f)
	computed := strings.HasPrefix(strings.TrimSpace(f.text), "QZ") && !a.texts[variableOf(f.expansions[0])]
	if len(words) == 0 || len(call.Assigns) > 0 || computed {
		a.known = false
	}
	words = append(words, redirects...)
	for _, name := range f.collected() {
		words = append(words, a.redirected(name, call)...)
	}
	a.replace(call, strings.Join(words, " "))
}

// enqueue remembers a variable whose content is text of commands.
func (a *assembly) enqueue(name string) {
	if !a.texts[name] {
		a.texts[name] = true
		a.queue = append(a.queue, name)
	}
}

// collects reports whether a variable is put together of words: by +=, of itself, or of a text with spaces.
func (a *assembly) collects(name string) (found bool) {
	if a.sources[name] {
		return false
	}
	for _, assign := range a.assigns(name) {
		if assign.Value == nil {
			return false
		}
		literal, _ := a.literal(assign.Value.Parts)
		found = found || assign.Append || strings.ContainsAny(literal, " \t")
	}
	return found
}

func (a *assembly) assigns(name string) (list []*syntax.Assign) {
	syntax.Walk(a.file, func(n syntax.Node) bool {
		if assign, ok := n.(*syntax.Assign); ok && assign.Name != nil && assign.Name.Value == name {
			list = append(list, assign)
		}
		return true
	})
	return list
}

// variable makes an array of a variable.
func (a *assembly) variable(name string, evals []*syntax.CallExpr) {
	assigned, before, after := a.assigns(name), true, true
	for _, assign := range assigned {
		call, isCall := a.parents[assign].(*syntax.CallExpr)
		declared, isDeclared := a.parents[assign].(*syntax.DeclClause)
		if assign.Value == nil || assign.Index != nil || isCall && len(call.Args) > 0 || isDeclared && declared.Variant.Value == "export" {
			a.known = false
			return
		}
		parts, adds := a.own(name, assign)
		f := a.fragment(parts)
		if f.text != "" {
			before = before && (!adds || f.spaceBefore())
			after = after && f.spaceAfter()
		}
		words, redirects := a.words(f)
		if len(redirects) > 0 && slices.ContainsFunc(evals, func(call *syntax.CallExpr) bool { return !a.beside(assign, call) }) {
			a.known = false
		}
		operator := map[bool]string{true: "+=(", false: "=("}[adds]
		a.replace(assign, name+operator+strings.Join(words, " ")+")")
	}
	if len(assigned) == 0 || !before && !after {
		a.known = false // the text of a word goes on in the next assignment
	}
	a.uses(name)
}

// own removes the variable itself from the beginning of its new value.
func (a *assembly) own(name string, assign *syntax.Assign) (parts []syntax.WordPart, adds bool) {
	parts = assign.Value.Parts
	if q, ok := first(parts).(*syntax.DblQuoted); ok && len(parts) == 1 {
		parts = q.Parts
	}
	if variableOf(first(parts)) == name {
		return parts[1:], true
	}
	return assign.Value.Parts, assign.Append
}

// uses shows the array where the text was shown.
func (a *assembly) uses(name string) {
	syntax.Walk(a.file, func(n syntax.Node) bool {
		p, ok := n.(*syntax.ParamExp)
		if !ok || p.Param == nil || p.Param.Value != name || a.covered(p) {
			return true
		}
		switch a.parents[a.parents[p]].(type) {
		case *syntax.Word: // in "…"
			_, quoted := a.parents[p].(*syntax.DblQuoted)
			a.known = a.known && quoted
		case *syntax.BinaryTest, *syntax.UnaryTest:
		default:
			a.known = false
		}
		if variableOf(p) == "" {
			a.known = false
		}
		a.replace(p, "${"+name+"[*]}")
		return true
	})
}

// covered reports whether an edit replaces the surroundings of a node.
func (a *assembly) covered(n syntax.Node) bool {
	return slices.ContainsFunc(a.edits, func(e edit) bool { return int(n.Pos().Offset()) >= e.from && int(n.End().Offset()) <= e.to })
}

// redirected returns the redirections that were added to a variable in the statements before its eval.
func (a *assembly) redirected(name string, call *syntax.CallExpr) (all []string) {
	for _, assign := range a.assigns(name) {
		if assign.Value == nil {
			continue
		}
		parts, _ := a.own(name, assign)
		if _, redirects := a.words(a.fragment(parts)); len(redirects) > 0 && a.beside(assign, call) {
			all = append(all, redirects...)
		}
	}
	return all
}

// beside reports whether an assignment is a statement before a command among the same ones, so that it always is
// done.
func (a *assembly) beside(assign *syntax.Assign, call *syntax.CallExpr) bool {
	one, two := a.parents[a.parents[assign]], a.parents[call]
	return one != nil && two != nil && a.parents[one] == a.parents[two] && assign.Pos().Offset() < call.Pos().Offset()
}
