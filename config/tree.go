package config

import (
	"fmt"
	"reflect"
	"slices"
)

// maxNodes bounds the agent tree.
const maxNodes = 1000

// nodeTypes says for which types of node a field means something. A field that
// is not listed fits every type.
var nodeTypes = map[string][]string{
	"model":           {LLMNode},
	"prompt":          {LLMNode, A2ANode},
	"can_exit_loop":   {LLMNode},
	"a2a":             {LLMNode},
	"max_iterations":  {Loop},
	"agents":          {Sequential, Parallel, Loop},
	"url":             {A2ANode},
	"destructiveHint": {A2ANode},
}

// treeChecker checks nodes depth first.
type treeChecker struct {
	*report
	nodes int
	seen  map[string]bool
}

func checkTree(r *report, root *Node) {
	if root == nil {
		return
	}
	t := &treeChecker{report: r, seen: map[string]bool{}}
	t.node("agent", root)
	if t.nodes > maxNodes {
		r.atLine(r.line("agent"), "agent", "the tree has more than %d nodes", maxNodes)
	}
}

func (t *treeChecker) node(path string, n *Node) {
	if t.nodes++; t.nodes > maxNodes || n == nil || t.failed[path] {
		return
	}
	if t.nodes > 1 || n.Name != "" {
		checkName(t.report, path, n.Name)
	}
	checkUnique(t.report, "agent", path, n.Name, t.seen)
	checkModel(t.report, path+".model", n.Model)
	checkURL(t.report, path+".url", n.URL)
	checkA2A(t.report, path+".a2a", n.A2A)
	if !t.failed[path+".type"] {
		t.fields(path, n)
	}
	for i, child := range n.Agents {
		t.node(fmt.Sprintf("%s.agents[%d]", path, i), child)
	}
}

// fields checks that a node has the fields of its type and no other.
func (t *treeChecker) fields(path string, n *Node) {
	for f, v := range reflect.ValueOf(n).Elem().Fields() {
		key := f.Tag.Get("yaml")
		types, special := nodeTypes[key]
		_, set := t.lines[path+"."+key]
		if special && !slices.Contains(types, n.Type) && (set || !v.IsZero()) {
			t.at(path+"."+key, "does not fit a node of type %s; only %s nodes have it", n.Type, either(types))
		}
	}
	switch {
	case slices.Contains(nodeTypes["agents"], n.Type) && len(n.Agents) == 0 && !t.failed[path+".agents"]:
		t.at(path, "a %s node needs at least one node in agents", n.Type)
	case n.Type == A2ANode && !t.holds(path+".url", n.URL):
		t.at(path, "url is required for a node of type a2a")
	}
}
