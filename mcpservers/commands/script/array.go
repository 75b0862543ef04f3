package script

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// maxElements bounds the commands that arrays make of one call.
const maxElements = 1000

// array is what a script puts into one: the elements of each NAME=(…), and those of all NAME+=(…).
type array struct {
	first [][]*syntax.Word
	more  []*syntax.Word
}

// collectArrays finds the elements of arrays, and the names of those whose index is text.
func (c *checker) collectArrays(file *syntax.File) {
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.DeclClause:
			if slices.ContainsFunc(n.Args, func(a *syntax.Assign) bool { return a.Naked && a.Value != nil && literal(a.Value) == "-A" }) {
				for _, a := range n.Args {
					if a.Name != nil {
						c.associative[a.Name.Value] = true
					}
				}
			}
		case *syntax.Assign:
			if n.Name != nil {
				c.collectArray(n)
			}
		}
		return true
	})
}

func (c *checker) collectArray(n *syntax.Assign) {
	var elements []*syntax.Word
	switch {
	case n.Array != nil:
		for _, e := range n.Array.Elems {
			if e.Value != nil {
				elements = append(elements, e.Value)
			}
		}
	case n.Value != nil && n.Index != nil: // NAME[0]=…
		elements = []*syntax.Word{n.Value}
	default:
		return
	}
	a := c.arrays[n.Name.Value]
	if a == nil {
		a = &array{}
		c.arrays[n.Name.Value] = a
	}
	if n.Append && n.Index == nil {
		a.more = append(a.more, elements...)
	} else {
		a.first = append(a.first, elements)
	}
}

// commands returns a call with "${NAME[@]}" replaced by the elements of the array, in the order of the text,
// once for each NAME=(…) of an array that begins the command. A script need not add them in that order: what
// is at stake is which program gets a value.
func (c *checker) commands(args []*syntax.Word) [][]*syntax.Word {
	if len(args) == 0 {
		return nil
	}
	rest := c.elements(args[1:], nil)
	a := c.arrays[arrayName(args[0])]
	if a == nil {
		return [][]*syntax.Word{slices.Concat(args[:1], rest)}
	}
	more := c.elements(a.more, []string{arrayName(args[0])})
	starts := a.first
	if len(starts) == 0 {
		starts = [][]*syntax.Word{nil}
	}
	var commands [][]*syntax.Word
	for _, start := range starts {
		commands = append(commands, slices.Concat(c.elements(start, []string{arrayName(args[0])}), more, rest))
	}
	return commands
}

// elements replaces arrays among words. within are the arrays whose elements the words are.
func (c *checker) elements(words []*syntax.Word, within []string) []*syntax.Word {
	var all []*syntax.Word
	for _, w := range words {
		name := arrayName(w)
		a := c.arrays[name]
		switch {
		case a == nil || len(all) > maxElements:
			all = append(all, w)
		case !slices.Contains(within, name):
			inner := append(slices.Clone(within), name)
			for _, first := range a.first {
				all = append(all, c.elements(first, inner)...)
			}
			all = append(all, c.elements(a.more, inner)...)
		}
	}
	return all
}

// arrayName returns NAME of "${NAME[@]}", ${NAME[@]} and "${NAME[@]:0:n}", "" for other words.
func arrayName(w *syntax.Word) string {
	if len(w.Parts) != 1 {
		return ""
	}
	part := w.Parts[0]
	if q, ok := part.(*syntax.DblQuoted); ok && len(q.Parts) == 1 {
		part = q.Parts[0]
	}
	p, ok := part.(*syntax.ParamExp)
	if !ok || p.Param == nil || p.Length || p.Excl || p.Exp != nil || p.Slice != nil && !fromStart(p.Slice) {
		return ""
	}
	if index, ok := p.Index.(*syntax.Word); !ok || literal(index) != "@" && literal(index) != "*" {
		return ""
	}
	return p.Param.Value
}

func fromStart(s *syntax.Slice) bool {
	w, ok := s.Offset.(*syntax.Word)
	return ok && literal(w) == "0"
}
