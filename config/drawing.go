package config

import (
	"cmp"
	"fmt"
	"io"

	"agent-stop-and-go/workflows/contract"
)

func (c *Config) describeTree(w io.Writer, getenv func(string) string) {
	fmt.Fprintln(w, "\nAgent")
	root := c.Root
	if root == nil {
		root = &Node{Type: LLMNode}
	}
	top := *root
	top.Name = cmp.Or(root.Name, c.Name)
	d := treeDrawing{w: w, model: c.LLM.Model, getenv: getenv}
	d.node(&top, "  ", "  ")
}

// treeDrawing draws nodes with box characters.
type treeDrawing struct {
	w      io.Writer
	model  string
	getenv func(string) string
}

func (d treeDrawing) node(n *Node, first, rest string) {
	fmt.Fprintf(d.w, "%s%s (%s)%s\n", first, n.Name, n.Type, d.details(n))
	var below []func(first, rest string)
	for _, a := range n.A2A {
		below = append(below, func(first, _ string) { fmt.Fprintf(d.w, "%sdelegates to %s\n", first, a.summary()) })
	}
	for _, child := range n.Agents {
		below = append(below, func(first, rest string) { d.node(child, first, rest) })
	}
	for i, draw := range below {
		if i == len(below)-1 {
			draw(rest+"└─ ", rest+"   ")
		} else {
			draw(rest+"├─ ", rest+"│  ")
		}
	}
}

func (d treeDrawing) details(n *Node) string {
	s := ""
	switch n.Type {
	case LLMNode:
		s = "  " + modelDetails(cmp.Or(n.Model, d.model), d.getenv)
	case A2ANode:
		s = "  " + shownURL(n.URL) + asks(n.DestructiveHint)
	case Loop:
		s = fmt.Sprintf("  at most %d times", cmp.Or(n.MaxIterations, 10))
	}
	if n.OutputKey != "" {
		s += "  → {" + n.OutputKey + "}"
	}
	return s
}

// modelDetails names a model's provider and the key it needs.
func modelDetails(model string, getenv func(string) string) string {
	provider, _, err := contract.ParseModel(model)
	if err != nil {
		return model
	}
	variable, missing := keyMissing(model, getenv)
	switch {
	case variable == "":
		return fmt.Sprintf("%s, provider %s, needs no key", model, provider)
	case missing:
		return fmt.Sprintf("%s, provider %s, key %s is missing", model, provider, variable)
	}
	return fmt.Sprintf("%s, provider %s, key %s is set", model, provider, variable)
}
