package toolbox

import (
	"fmt"
	"slices"
	"strings"
)

// nameConflict is a tool that cannot be called because another has its name.
type nameConflict struct {
	tool, server string
	first        string // the server whose tool is on offer; empty for a tool of our own
}

func (c nameConflict) String() string {
	if c.first == "" {
		return fmt.Sprintf("tool name %q of MCP server %q is that of a tool of our own", c.tool, c.server)
	}
	return fmt.Sprintf("duplicate tool name %q found in MCP servers %q and %q", c.tool, c.first, c.server)
}

// nameConflict reports whether the name of a tool is taken, and by which server.
func (t *Toolbox) nameConflict(tool Tool, owner map[string]string) (nameConflict, bool) {
	first, taken := owner[tool.Name]
	own := slices.ContainsFunc(t.own, func(own Tool) bool { return own.Name == tool.Name })
	return nameConflict{tool: tool.Name, server: tool.Server, first: first}, taken || own
}

// Conflicts lists the tools that cannot be called because another has their name, and how to
// resolve that: one line for each pair of servers.
func (t *Toolbox) Conflicts() []string {
	type pair struct{ server, first string }
	var pairs []pair
	tools := map[pair][]string{}
	for _, o := range t.offers(nil) {
		for _, c := range o.clashes {
			p := pair{c.server, c.first}
			if tools[p] == nil {
				pairs = append(pairs, p)
			}
			tools[p] = append(tools[p], c.tool)
		}
	}
	var out []string
	for _, p := range pairs {
		if p.first == "" {
			out = append(out, fmt.Sprintf("MCP server %q has tools that are named like tools of the agent itself (%s), and cannot be called: "+
				"set prefix: true on it, or name them in its tools.deny", p.server, shortList(tools[p])))
			continue
		}
		out = append(out, fmt.Sprintf("MCP servers %q and %q have tools of the same name (%s), and those of %q cannot be called: "+
			"set prefix: true on one of them, or name them in tools.deny of one", p.first, p.server, shortList(tools[p]), p.server))
	}
	return out
}

// Limits of lists of names in messages.
const (
	maxNamed      = 5
	maxNameLength = 100 // bytes
)

// shortList quotes the first of names.
func shortList(names []string) string {
	var out []string
	for _, name := range names[:min(len(names), maxNamed)] {
		out = append(out, fmt.Sprintf("%.*q", maxNameLength, name))
	}
	if more := len(names) - maxNamed; more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(out, ", ")
}

// warnConflicts logs the conflicts that are new.
func (t *Toolbox) warnConflicts() {
	conflicts := t.Conflicts()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range conflicts {
		if !t.warned[c] && len(t.warned) < maxItems {
			t.warned[c] = true
			t.opts.Logger.Warn(c)
		}
	}
}
