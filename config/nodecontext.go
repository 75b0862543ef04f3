package config

import (
	"cmp"
	"fmt"
	"iter"
)

// nodeContext is a node with its position in the tree.
type nodeContext struct {
	*Node
	path             string
	enclosing        *Node // the nearest enclosing parallel or loop node
	inLoop           bool  // inside a loop
	approvalRequired bool  // it or an enclosing node says approval: required
}

// root returns the root of the tree. Its name defaults to that of the file. ok is false
// without a tree.
func (c *Config) root() (p nodeContext, ok bool) {
	if c.Root == nil {
		return nodeContext{}, false
	}
	top := *c.Root
	top.Name = cmp.Or(top.Name, c.Name)
	return nodeContext{Node: &top, path: "agent", approvalRequired: top.Approval == ApprovalRequired}, true
}

// single reports whether the tree is a single llm node.
func (c *Config) single() bool { return c.Root != nil && c.Root.Type == LLMNode }

// children returns the nodes inside, in declared order.
func (p nodeContext) children() []nodeContext {
	enclosing := p.enclosing
	if p.Type == Parallel || p.Type == Loop {
		enclosing = p.Node
	}
	var inside []nodeContext
	for i, n := range p.Agents {
		inside = append(inside, nodeContext{
			Node: n, path: fmt.Sprintf("%s.agents[%d]", p.path, i), enclosing: enclosing,
			inLoop:           p.inLoop || p.Type == Loop,
			approvalRequired: p.approvalRequired || n.Approval == ApprovalRequired,
		})
	}
	return inside
}

// all visits the node and those inside, depth first.
func (p nodeContext) all() iter.Seq[nodeContext] {
	return func(yield func(nodeContext) bool) { p.visit(yield) }
}

func (p nodeContext) visit(yield func(nodeContext) bool) bool {
	if !yield(p) {
		return false
	}
	for _, q := range p.children() {
		if !q.visit(yield) {
			return false
		}
	}
	return true
}

// nodes visits the whole tree, depth first.
func (c *Config) nodes() iter.Seq[nodeContext] {
	root, ok := c.root()
	if !ok {
		return func(func(nodeContext) bool) {}
	}
	return root.all()
}

// skipsApproval reports whether destructive calls of a leaf run without approval.
func (p nodeContext) skipsApproval() bool { return p.enclosing != nil && !p.approvalRequired }

// outputKeys returns the output keys of the node and those inside.
func (p nodeContext) outputKeys() []string {
	var keys []string
	for q := range p.all() {
		if q.OutputKey != "" {
			keys = append(keys, q.OutputKey)
		}
	}
	return keys
}

// AutoRunNode is an llm node whose destructive tool calls run without approval. Tools are as
// in the file: nil means all.
type AutoRunNode struct {
	Name  string
	Tools []string
}

// AutoRunNodes returns the llm nodes that run destructive tools of MCP servers without
// approval, because they are inside a parallel or loop node and neither they nor an enclosing
// node says approval: required. Only the servers know which of their tools are destructive.
func (c *Config) AutoRunNodes() []AutoRunNode {
	var nodes []AutoRunNode
	for p := range c.nodes() {
		if c.runsToolsWithoutApproval(p) {
			nodes = append(nodes, AutoRunNode{Name: p.Name, Tools: p.Tools})
		}
	}
	return nodes
}

func (c *Config) runsToolsWithoutApproval(p nodeContext) bool {
	none := p.Tools != nil && len(p.Tools) == 0
	return p.Type == LLMNode && p.skipsApproval() && len(c.MCPServers) > 0 && !none
}

// ToolList is the tools setting of an llm node: names of servers and tools.
type ToolList struct {
	Node  string
	Names []string
}

// ToolLists returns the non-empty tools settings. Only the servers know whether the names
// exist.
func (c *Config) ToolLists() []ToolList {
	var lists []ToolList
	for p := range c.nodes() {
		if p.Type == LLMNode && len(p.Tools) > 0 {
			lists = append(lists, ToolList{Node: p.Name, Names: p.Tools})
		}
	}
	return lists
}
