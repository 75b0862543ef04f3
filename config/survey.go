package config

import "gopkg.in/yaml.v3"

// Limits of a file. maxValues counts keys and values with every alias expanded; a tree of
// maxNodes nodes (tree.go) with every key is below it. maxDepth leaves room for maxNodeDepth,
// at two levels per node, so that the checks of the tree report somewhat deeper trees in
// their own words.
const (
	maxValues = 50_000
	maxDepth  = 128
)

// surveyor walks a document like decode, and stops where that could take forever: with
// aliases, a few lines can expand to billions of values, or contain themselves.
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
