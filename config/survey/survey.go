// Package survey refuses YAML documents that cannot be walked safely.
package survey

import (
	"fmt"

	"gopkg.in/yaml.v3"
)

// Limits of a document. maxValues counts keys and values with every alias expanded; the largest
// agent tree with every key is below it. maxDepth leaves room for the deepest one, at two levels
// per node, so that the checks of the tree report somewhat deeper trees in their own words.
const (
	maxValues = 50_000
	maxDepth  = 128
)

// Problem is why a document is not safe, at a line.
type Problem struct {
	Line int
	Text string
}

// surveyor walks a document as those who decode it do, and stops where that could take forever: with
// aliases, a few lines can expand to billions of values, or contain themselves.
type surveyor struct {
	nodes  int // depth of an agent tree, for the message
	values int
	open   map[*yaml.Node]bool
}

// Of returns why a document is not safe to walk, or nil. An agent tree in it may be nodes deep.
func Of(root *yaml.Node, nodes int) *Problem {
	s := surveyor{nodes: nodes, open: map[*yaml.Node]bool{}}
	return s.visit(root, root.Line, 1)
}

func (s *surveyor) visit(n *yaml.Node, line, depth int) *Problem {
	s.values++
	switch {
	case s.values > maxValues:
		return problem(line, "more than %d values, with every alias written out", maxValues)
	case depth > maxDepth:
		return problem(line, "nested more than %d levels deep; an agent tree may be %d nodes deep", maxDepth, s.nodes)
	case n.Kind == yaml.AliasNode && s.open[n.Alias]:
		return problem(line, "the alias *%s stands inside what it stands for", n.Value)
	case n.Kind == yaml.AliasNode:
		return s.visit(n.Alias, n.Line, depth)
	}
	s.open[n] = true
	defer delete(s.open, n)
	for _, child := range n.Content {
		if p := s.visit(child, child.Line, depth+1); p != nil {
			return p
		}
	}
	return nil
}

func problem(line int, format string, args ...any) *Problem {
	return &Problem{Line: line, Text: fmt.Sprintf(format, args...)}
}
