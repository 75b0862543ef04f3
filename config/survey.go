package config

import "gopkg.in/yaml.v3"

// Limits of a file. maxValues counts keys and values with every alias written
// out; 1,000 agent nodes (maxNodes in tree.go) with every key fit. maxDepth
// leaves room for maxNodeDepth, two levels a node, and for the checks of the tree
// to complain of somewhat deeper ones in their own words.
const (
	maxValues = 50_000
	maxDepth  = 128
)

// surveyor walks a document as decode will, and stops where that could take
// for ever. An alias lets a few lines stand for billions of values, or contain
// itself.
type surveyor struct {
	r      *report
	values int
	open   map[*yaml.Node]bool
}

// survey reports whether the document is safe to walk.
func survey(r *report, root *yaml.Node) bool {
	s := surveyor{r: r, open: map[*yaml.Node]bool{}}
	return s.visit(root, root.Line, 1)
}

func (s *surveyor) visit(n *yaml.Node, line, depth int) bool {
	s.values++
	switch {
	case s.values > maxValues:
		return s.refuse(line, "more than %d values, with every alias written out", maxValues)
	case depth > maxDepth:
		return s.refuse(line, "nested more than %d levels deep; an agent tree may be %d nodes deep", maxDepth, maxNodeDepth)
	case n.Kind == yaml.AliasNode && s.open[n.Alias]:
		return s.refuse(line, "the alias *%s stands inside what it stands for", n.Value)
	case n.Kind == yaml.AliasNode:
		return s.visit(n.Alias, n.Line, depth)
	}
	s.open[n] = true
	defer delete(s.open, n)
	for _, child := range n.Content {
		if !s.visit(child, child.Line, depth+1) {
			return false
		}
	}
	return true
}

func (s *surveyor) refuse(line int, format string, args ...any) bool {
	s.r.atLine(line, "", "failed to parse config file: "+format, args...)
	return false
}
