package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"agent-stop-and-go/config/header"
	"agent-stop-and-go/config/outputschema"
	"agent-stop-and-go/workflows/contract"
)

// Limits of the agent tree.
const (
	maxNodes     = 1000
	maxNodeDepth = 32 // including the root
	maxBranches  = 64 // of a parallel node
)

// nodeTypes lists the types of nodes that have a field. A field that is not listed fits every
// type.
var nodeTypes = map[string][]string{
	"model":                   {LLMNode},
	"prompt":                  {LLMNode, A2ANode},
	"history":                 {LLMNode},
	"tools":                   {LLMNode},
	"max_tool_rounds":         {LLMNode},
	"can_exit_loop":           {LLMNode},
	"output_schema":           {LLMNode},
	"a2a":                     {LLMNode},
	"url":                     {A2ANode},
	"destructiveHint":         {A2ANode},
	"headers":                 {A2ANode},
	"credential":              {A2ANode},
	"context":                 {A2ANode},
	"exchange":                {A2ANode},
	"own":                     {A2ANode},
	"allow_private_redirects": {A2ANode},
	"agents":                  {Sequential, Parallel, Loop},
	"max_iterations":          {Loop},
	"fail_fast":               {Parallel},
}

// treeChecker checks nodes depth first.
type treeChecker struct {
	*report
	models  registry
	nodes   int
	tooDeep bool
	seen    map[string]bool
}

func checkTree(r *report, root *Node, m registry) {
	if root == nil {
		return
	}
	t := &treeChecker{report: r, models: m, seen: map[string]bool{}}
	t.node("agent", root, 1)
	if t.nodes > maxNodes {
		r.atLine(r.line("agent"), "agent", "the tree has more than %d nodes", maxNodes)
	}
}

func (t *treeChecker) node(path string, n *Node, depth int) {
	if t.nodes++; t.nodes > maxNodes || n == nil || t.failed[path] {
		return
	}
	if depth > maxNodeDepth {
		t.deep(path)
		return
	}
	if t.nodes > 1 || n.Name != "" {
		checkName(t.report, path, n.Name)
	}
	checkUnique(t.report, "agent", path, n.Name, t.seen)
	t.models.checkName(t.report, path+".model", n.Model)
	checkURL(t.report, path+".url", n.URL)
	checkA2A(t.report, path+".a2a", n.A2A)
	checkHeaders(t.report, path+".headers", n.Headers, header.OfA2A)
	checkDuration(t.report, path+".timeout", n.Timeout, 0)
	t.tools(path+".tools", n.Tools)
	if at := path + ".output_schema"; n.OutputSchema != nil && !t.failed[at] {
		for _, fault := range outputschema.Faults(at, n.OutputSchema) {
			t.at(fault.Path, "%s", fault.Message)
		}
	}
	if n.OutputKey == contract.KeyUserMessage {
		t.at(path+".output_key", "%s: stands for the user's message; choose another key", quote(n.OutputKey))
	}
	if !t.failed[path+".type"] {
		t.fields(path, n)
		t.shape(path, n)
	}
	for i, child := range n.Agents {
		t.node(fmt.Sprintf("%s.agents[%d]", path, i), child, depth+1)
	}
}

// deep reports a tree that is too deep only once.
func (t *treeChecker) deep(path string) {
	if !t.tooDeep {
		t.tooDeep = true
		t.atLine(t.line(path), "agent", "the tree is more than %d nodes deep here", maxNodeDepth)
	}
}

func (t *treeChecker) tools(path string, names []string) {
	seen := map[string]bool{}
	for i, name := range names {
		at := fmt.Sprintf("%s[%d]", path, i)
		switch {
		case strings.TrimSpace(name) == "":
			t.at(at, "must be the name of a tool or of a server")
		case untidy(name):
			t.at(at, "%s: must have no space around it and no control characters in it", quote(name))
		case seen[name]:
			t.at(at, "%s: is in the list already", quote(name))
		}
		seen[name] = true
	}
}

// fields checks that a node has no field of another type.
func (t *treeChecker) fields(path string, n *Node) {
	for f, v := range reflect.ValueOf(n).Elem().Fields() {
		key := f.Tag.Get("yaml")
		types, special := nodeTypes[key]
		_, set := t.lines[path+"."+key]
		if special && !slices.Contains(types, n.Type) && (set || !v.IsZero()) {
			t.at(path+"."+key, "does not fit a node of type %s; only %s nodes have it", n.Type, either(types))
		}
	}
}

// shape checks that a node has the fields its type needs, and not too many branches.
func (t *treeChecker) shape(path string, n *Node) {
	switch {
	case slices.Contains(nodeTypes["agents"], n.Type) && len(n.Agents) == 0 && !t.failed[path+".agents"]:
		t.at(path, "a %s node needs at least one node in agents", n.Type)
	case n.Type == Parallel && len(n.Agents) > maxBranches:
		t.at(path+".agents", "%d branches; a parallel node has at most %d: group them into parallel nodes inside this one, "+
			"or split them over several in a sequence", len(n.Agents), maxBranches)
	case n.Type == A2ANode && !t.holds(path+".url", n.URL):
		t.at(path, "url is required for a node of type a2a")
	}
}
