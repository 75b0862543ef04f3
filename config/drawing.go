package config

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/template"
)

func (c *Config) describeTree(w io.Writer, getenv func(string) string) {
	fmt.Fprintln(w, "\nAgent")
	root, ok := c.root()
	if !ok {
		root = nodeContext{Node: &Node{Type: LLMNode, Name: c.Name}}
	}
	setters := map[string][]string{}
	for p := range c.nodes() {
		if p.OutputKey != "" {
			setters[p.OutputKey] = append(setters[p.OutputKey], p.Name)
		}
	}
	treeDrawing{w: w, config: c, getenv: getenv, setters: setters}.node(root, "  ", "  ")
}

// treeDrawing draws nodes with box characters.
type treeDrawing struct {
	w      io.Writer
	config *Config
	getenv func(string) string
	// setters are the names of the nodes that set an output key; before are the keys set by
	// earlier nodes.
	setters map[string][]string
	before  []string
}

func (d treeDrawing) node(p nodeContext, first, rest string) {
	fmt.Fprintf(d.w, "%s%s (%s)%s\n", first, p.Name, p.Type, d.details(p))
	var below []func(first, rest string)
	for _, a := range p.A2A {
		below = append(below, func(first, _ string) {
			fmt.Fprintf(d.w, "%sdelegates to %s: %s%s\n", first, a.Name, a.where(), asks(a.DestructiveHint, p.skipsApproval()))
		})
	}
	inside := d
	for _, q := range p.children() {
		drawing := inside
		below = append(below, func(first, rest string) { drawing.node(q, first, rest) })
		if p.Type != Parallel {
			inside.before = append(slices.Clip(inside.before), q.outputKeys()...)
		}
	}
	for i, draw := range below {
		if i == len(below)-1 {
			draw(rest+"└─ ", rest+"   ")
		} else {
			draw(rest+"├─ ", rest+"│  ")
		}
	}
}

// address returns how the agent of an a2a node is reached, without the timeout, which details
// shows.
func (p nodeContext) address() string {
	a := p.agent()
	a.Timeout = 0
	return a.where()
}

// details returns the settings of a node that are not the default.
func (d treeDrawing) details(p nodeContext) string {
	var parts []string
	add := func(apply bool, format string, args ...any) {
		if apply {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	switch p.Type {
	case LLMNode:
		add(true, "%s", d.modelDetails(cmp.Or(p.Model, d.config.LLM.Model)))
	case A2ANode:
		add(true, "%s%s", p.address(), asks(p.DestructiveHint, p.skipsApproval()))
	case Loop:
		add(true, "at most %d times", cmp.Or(p.MaxIterations, contract.DefaultMaxIterations))
	}
	add(p.History, "sees the conversation")
	add(len(p.Tools) > 0, "tools: %s", strings.Join(p.Tools, ", "))
	add(p.Tools != nil && len(p.Tools) == 0, "no tools")
	add(p.MaxToolRounds > 0, "at most %d tool rounds", p.MaxToolRounds)
	add(p.OutputSchema != nil, "answers by its schema")
	add(p.CanExitLoop, "may exit the loop")
	add(d.config.runsToolsWithoutApproval(p), "runs destructive calls at once")
	add(p.Approval == ApprovalRequired, "approval required")
	add(p.FailFast, "fails fast")
	add(p.OnReject == OnRejectContinue, "goes on after a rejection")
	add(p.Timeout > 0, "timeout %s", short(p.Timeout))
	for _, key := range template.Keys(p.Prompt) {
		add(len(d.setters[key]) > 0, "reads {%s}, %s", key, d.emptiness(key))
	}
	text := ""
	if len(parts) > 0 {
		text = "  " + strings.Join(parts, "; ")
	}
	if p.OutputKey != "" {
		text += "  → {" + p.OutputKey + "}"
	}
	return text
}

// emptiness says when a placeholder has no value.
func (d treeDrawing) emptiness(key string) string {
	if !slices.Contains(d.before, key) {
		return "empty until " + strings.Join(d.setters[key], " or ") + " has run"
	}
	return "empty if " + strings.Join(d.setters[key], " and ") + " left nothing"
}

// modelDetails returns a model's provider and the key it needs.
func (d treeDrawing) modelDetails(model string) string {
	g := registry(d.config.Models)
	e, own, err := g.find(model)
	switch {
	case err != nil:
		return model
	case own:
		return fmt.Sprintf("%s, %s", g.title(model), g.keyState(model, d.getenv))
	}
	return fmt.Sprintf("%s, provider %s, %s", model, e.Provider, g.keyState(model, d.getenv))
}
