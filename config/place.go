package config

import (
	"cmp"
	"fmt"
	"iter"
)

// place is a node and where in the tree it stands.
type place struct {
	*Node
	path   string
	around *Node // the nearest parallel or loop node around it
	looped bool  // a loop is around it
	held   bool  // it, or a node around it, says approval: required
}

// root is the place of the tree's root, which has a name also when the file
// gives it none. ok is false without a tree.
func (c *Config) root() (p place, ok bool) {
	if c.Root == nil {
		return place{}, false
	}
	top := *c.Root
	top.Name = cmp.Or(top.Name, c.Name)
	return place{Node: &top, path: "agent", held: top.Approval == ApprovalRequired}, true
}

// single reports whether the tree is nothing but one llm node.
func (c *Config) single() bool { return c.Root != nil && c.Root.Type == LLMNode }

// below are the places of the nodes inside, in declared order.
func (p place) below() []place {
	around := p.around
	if p.Type == Parallel || p.Type == Loop {
		around = p.Node
	}
	var inside []place
	for i, n := range p.Agents {
		inside = append(inside, place{
			Node: n, path: fmt.Sprintf("%s.agents[%d]", p.path, i), around: around,
			looped: p.looped || p.Type == Loop,
			held:   p.held || n.Approval == ApprovalRequired,
		})
	}
	return inside
}

// all visits the place and those below it, depth first.
func (p place) all() iter.Seq[place] {
	return func(yield func(place) bool) { p.visit(yield) }
}

func (p place) visit(yield func(place) bool) bool {
	if !yield(p) {
		return false
	}
	for _, q := range p.below() {
		if !q.visit(yield) {
			return false
		}
	}
	return true
}

// places visits the whole tree, depth first.
func (c *Config) places() iter.Seq[place] {
	root, ok := c.root()
	if !ok {
		return func(func(place) bool) {}
	}
	return root.all()
}

// atOnce reports whether destructive calls of a leaf run without asking.
func (p place) atOnce() bool { return p.around != nil && !p.held }

// outputKeys are the output keys of the place and of those below it.
func (p place) outputKeys() []string {
	var keys []string
	for q := range p.all() {
		if q.OutputKey != "" {
			keys = append(keys, q.OutputKey)
		}
	}
	return keys
}

// AtOnceNode is an llm node whose destructive tool calls run without asking.
// Tools are as in the file: nil means all.
type AtOnceNode struct {
	Name  string
	Tools []string
}

// AtOnceNodes are the llm nodes that run destructive tools of MCP servers
// unasked, because they are inside a parallel or loop node and no approval:
// required holds them. Which of their tools are destructive only the servers know.
func (c *Config) AtOnceNodes() []AtOnceNode {
	var nodes []AtOnceNode
	for p := range c.places() {
		if c.runsToolsAtOnce(p) {
			nodes = append(nodes, AtOnceNode{Name: p.Name, Tools: p.Tools})
		}
	}
	return nodes
}

func (c *Config) runsToolsAtOnce(p place) bool {
	none := p.Tools != nil && len(p.Tools) == 0
	return p.Type == LLMNode && p.atOnce() && len(c.MCPServers) > 0 && !none
}

// ToolList is the tools setting of an llm node: names of servers and tools.
type ToolList struct {
	Node  string
	Names []string
}

// ToolLists are the tools settings that name something. Whether they name what
// is there, only the servers know.
func (c *Config) ToolLists() []ToolList {
	var lists []ToolList
	for p := range c.places() {
		if p.Type == LLMNode && len(p.Tools) > 0 {
			lists = append(lists, ToolList{Node: p.Name, Names: p.Tools})
		}
	}
	return lists
}
