package script

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Fault is a place in a script. Lines begin with 1.
type Fault struct {
	Line   int
	Text   string
	Offset int  // in bytes
	Quote  bool // quotes around the expansion at Offset mend it
	End    int  // of the expansion
}

// Parse reads a script for bash, or for a shell with only the POSIX language.
func Parse(source string, posix bool) (*syntax.File, error) {
	variant := syntax.LangBash
	if posix {
		variant = syntax.LangPOSIX
	}
	return syntax.NewParser(syntax.Variant(variant), syntax.KeepComments(true)).Parse(strings.NewReader(source), "")
}

// Check returns the faults of a script whose variables hold values of callers. An error is a syntax error.
func Check(source string, posix bool, values map[string]bool) ([]Fault, error) {
	file, err := Parse(source, posix)
	if err != nil {
		return nil, err
	}
	c := &checker{values: map[string]bool{}, functions: map[string]bool{}, arrays: map[string]*array{}, associative: map[string]bool{}}
	for name := range values {
		c.values[name] = true
	}
	c.spread(file)
	c.collectArrays(file)
	c.walk(file, false)
	slices.SortStableFunc(c.faults, func(a, b Fault) int { return a.Offset - b.Offset })
	return c.faults, nil
}

type checker struct {
	values    map[string]bool // variables that hold values; "@" for the parameters of functions
	functions map[string]bool
	arrays    map[string]*array
	// associative arrays take their index as text
	associative map[string]bool
	faults      []Fault
}

func (c *checker) fault(at syntax.Node, text string) {
	c.faults = append(c.faults, Fault{Line: int(at.Pos().Line()), Offset: int(at.Pos().Offset()), End: int(at.End().Offset()), Text: text})
}

// spread finds the variables that get values from others, until there are no more.
func (c *checker) spread(file *syntax.File) {
	for before := -1; before != len(c.values); {
		before = len(c.values)
		syntax.Walk(file, func(node syntax.Node) bool {
			switch n := node.(type) {
			case *syntax.FuncDecl:
				c.functions[n.Name.Value] = true
			case *syntax.Assign:
				if n.Name != nil && (c.holds(n.Value) || c.holds(n.Array)) {
					c.values[n.Name.Value] = true
				}
			case *syntax.WordIter:
				for _, item := range n.Items {
					if c.holds(item) {
						c.values[n.Name.Value] = true
					}
				}
			case *syntax.CallExpr:
				c.spreadCall(n)
			}
			return true
		})
	}
}

// spreadCall follows values into functions, set and read.
func (c *checker) spreadCall(call *syntax.CallExpr) {
	name := commandName(call)
	if !c.functions[name] && name != "set" && name != "printf" && name != "read" && name != "mapfile" && name != "readarray" {
		return
	}
	for i, arg := range call.Args[1:] {
		switch {
		case (name == "read" || name == "mapfile" || name == "readarray") && arg.Lit() != "" && !strings.HasPrefix(arg.Lit(), "-"):
			c.values[arg.Lit()] = true // what it reads may be a value: this is not followed
		case name == "printf" && i == 1 && call.Args[1].Lit() == "-v" && arg.Lit() != "":
			if slices.ContainsFunc(call.Args, c.holdsWord) {
				c.values[arg.Lit()] = true
			}
		case c.functions[name] || name == "set":
			if c.holds(arg) {
				c.values["@"] = true
			}
		}
	}
}

func (c *checker) holdsWord(w *syntax.Word) bool { return c.holds(w) }

// holds reports whether a part of the script contains a value.
func (c *checker) holds(node syntax.Node) (found bool) {
	if isNil(node) {
		return false
	}
	syntax.Walk(node, func(n syntax.Node) bool {
		if p, ok := n.(*syntax.ParamExp); ok && !p.Length && c.isValue(p) {
			found = true
		}
		return !found
	})
	return found
}

// isValue reports whether an expansion is a value. What ${!name} names is not known, so it always is.
func (c *checker) isValue(p *syntax.ParamExp) bool {
	if p.Param == nil {
		return false
	}
	return c.named(p.Param.Value) || c.values["@"] && positional(p.Param.Value) || p.Excl && p.Names == 0 && p.Index == nil
}

// named reports whether a variable holds a value; those of a list have numbers.
func (c *checker) named(name string) bool {
	return c.values[name] || c.values[strings.TrimRight(strings.TrimRight(name, "0123456789"), "_")] && name[len(name)-1] <= '9'
}

func positional(name string) bool {
	return name == "@" || name == "*" || len(name) == 1 && name[0] >= '1' && name[0] <= '9'
}

func isNil(node syntax.Node) bool {
	switch n := node.(type) {
	case nil:
		return true
	case *syntax.Word:
		return n == nil
	case *syntax.ArrayExpr:
		return n == nil
	}
	return false
}

// commandName is the literal name of a command, "" if it is computed.
func commandName(call *syntax.CallExpr) string {
	if len(call.Args) == 0 {
		return ""
	}
	return literal(call.Args[0])
}

// literal is the text of a word without expansions, with its quotes removed.
func literal(w *syntax.Word) string {
	var b strings.Builder
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(p.Value)
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			b.WriteString(literal(&syntax.Word{Parts: p.Parts}))
		default:
			return ""
		}
	}
	return b.String()
}

// baseName is the name of a program without its folder, "" if it is computed.
func baseName(w *syntax.Word) string {
	if text := literal(w); text != "" {
		return path.Base(text)
	}
	return ""
}

// walk visits everything. whole says that words are not split here, as in assignments.
func (c *checker) walk(root syntax.Node, whole bool) {
	syntax.Walk(root, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.CallExpr:
			c.call(n)
		case *syntax.DeclClause:
			c.declaration(n)
		case *syntax.WordIter:
			c.unquoted(n.Items)
		case *syntax.ArrayExpr:
			for _, e := range n.Elems {
				c.unquoted([]*syntax.Word{e.Value})
				c.arithmetic(e.Index)
			}
		case *syntax.Redirect:
			if n.Hdoc == nil && n.Op != syntax.WordHdoc {
				c.unquoted([]*syntax.Word{n.Word})
			}
		case *syntax.ArithmExp:
			c.arithmetic(n.X)
		case *syntax.ArithmCmd:
			c.arithmetic(n.X)
		case *syntax.LetClause:
			for _, x := range n.Exprs {
				c.arithmetic(x)
			}
		case *syntax.CStyleLoop:
			c.arithmetic(n.Init)
			c.arithmetic(n.Cond)
			c.arithmetic(n.Post)
		case *syntax.Assign:
			if n.Name == nil || !c.associative[n.Name.Value] {
				c.arithmetic(n.Index)
			}
		case *syntax.ParamExp:
			c.expansion(n)
		case *syntax.BinaryTest:
			if n.Op >= syntax.TsEql && n.Op <= syntax.TsGtr {
				c.number(n.X)
				c.number(n.Y)
			}
		case *syntax.UnaryTest:
			if (n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar) && c.holds(n.X) {
				c.fault(n, "a value is the name of a variable")
			}
		}
		return true
	})
}

func (c *checker) expansion(p *syntax.ParamExp) {
	switch {
	case p.Excl && c.named(p.Param.Value) && p.Names == 0 && p.Index == nil:
		c.fault(p, "a value is the name of a variable")
	case p.Exp != nil && p.Exp.Op == syntax.OtherParamOps && c.isValue(p) && p.Exp.Word != nil && literal(p.Exp.Word) == "P":
		c.fault(p, "@P runs the commands in a value")
	}
	if p.Slice != nil {
		c.arithmetic(p.Slice.Offset)
		c.arithmetic(p.Slice.Length)
	}
	if w, ok := p.Index.(*syntax.Word); (!ok || literal(w) != "@" && literal(w) != "*") && !c.associative[p.Param.Value] {
		c.arithmetic(p.Index)
	}
}

// arithmetic refuses values in an expression, by expansion or by name.
func (c *checker) arithmetic(x syntax.ArithmExpr) {
	if x == nil {
		return
	}
	found := false
	syntax.Walk(x, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.ParamExp:
			found = found || !n.Length && c.isValue(n)
		case *syntax.Lit:
			found = found || c.named(n.Value)
		case *syntax.CmdSubst:
			return false
		}
		return true
	})
	if found {
		c.fault(x, "bash runs commands that a value contains when it computes with it: use an argument of type int")
	}
}

// number is arithmetic for the sides of [[ x -eq y ]].
func (c *checker) number(x syntax.TestExpr) {
	if w, ok := x.(*syntax.Word); ok && (c.holds(w) || literal(w) != "" && c.named(literal(w))) {
		c.fault(x, "bash runs commands that a value contains when it compares it as a number: use an argument of type int, or [ x -eq y ]")
	}
}

func (c *checker) declaration(d *syntax.DeclClause) {
	for _, a := range d.Args {
		if a.Name == nil && c.holds(a.Value) {
			c.fault(d, fmt.Sprintf("%s takes a value as the name of a variable", d.Variant.Value))
		}
	}
}

// unquoted refuses words in which a value is split.
func (c *checker) unquoted(words []*syntax.Word) {
	for _, w := range words {
		if w == nil {
			continue
		}
		for _, part := range w.Parts {
			switch p := part.(type) {
			case *syntax.ParamExp:
				if p.Length || !c.isValue(p) {
					continue
				}
			case *syntax.CmdSubst:
				if !c.holds(p) {
					continue
				}
			default:
				continue
			}
			c.fault(part, "a value without quotes becomes several words, and options: put it into \"…\"")
			c.faults[len(c.faults)-1].Quote = true
		}
	}
}
