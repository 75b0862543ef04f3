package worker

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/config"
	"agent-stop-and-go/workflows/contract"
)

// toolLister lists the tools and the states of their servers.
type toolLister interface {
	Tools(ctx context.Context) []toolbox.Tool
	States() []contract.ServerState
}

// pollInterval is the pause between checks for servers that are not ready.
const pollInterval = 5 * time.Second

// autoRunWarning warns of nodes that run destructive tools without asking, and of tool names in
// their settings that do not exist.
type autoRunWarning struct {
	nodes  []config.AutoRunNode
	lists  []config.ToolList
	tools  toolLister
	logger *slog.Logger
	named  map[string][]string // tools already warned of, by node
}

func warnAutoRun(ctx context.Context, nodes []config.AutoRunNode, lists []config.ToolList, s toolLister, logger *slog.Logger) {
	if len(nodes)+len(lists) == 0 {
		return
	}
	u := autoRunWarning{nodes: nodes, lists: lists, tools: s, logger: logger, named: map[string][]string{}}
	u.watch(ctx)
}

// watch checks until every server is ready, or ctx ends.
func (u *autoRunWarning) watch(ctx context.Context) {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	u.tools.Tools(ctx) // waits for servers that are being started
	for {
		complete := u.complete() // before Tools, so that no server is missed
		tools := u.tools.Tools(ctx)
		u.warn(tools)
		if complete {
			u.warnUnknown(tools)
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (u *autoRunWarning) complete() bool {
	return !slices.ContainsFunc(u.tools.States(), func(s contract.ServerState) bool { return !s.Ready })
}

// warn names each tool of a node once. A server that becomes ready later adds another line.
func (u *autoRunWarning) warn(tools []toolbox.Tool) {
	for _, n := range u.nodes {
		var names []string
		for _, t := range tools {
			if t.DestructiveHint && offered(n, t) && !slices.Contains(u.named[n.Name], t.Name) {
				names = append(names, t.Name)
			}
		}
		if len(names) == 0 {
			continue
		}
		u.named[n.Name] = append(u.named[n.Name], names...)
		u.logger.Warn(fmt.Sprintf("node %q runs destructive tools without asking", n.Name),
			"node", n.Name, "tools", strings.Join(names, ", "), "hint", "set approval: required on it to hold them")
	}
}

// warnUnknown warns of names that no server has, once every server is ready.
func (u *autoRunWarning) warnUnknown(tools []toolbox.Tool) {
	for _, l := range u.lists {
		for _, name := range l.Names {
			known := slices.ContainsFunc(tools, func(t toolbox.Tool) bool { return t.Name == name || t.Server == name }) ||
				slices.ContainsFunc(u.tools.States(), func(s contract.ServerState) bool { return s.Name == name })
			if !known {
				u.logger.Warn(fmt.Sprintf("node %q lists a tool that no server has", l.Node),
					"node", l.Node, "tool", name, "hint", "GET /tools lists the names")
			}
		}
	}
}

// offered reports whether a node may call a tool. A node without a list may call all tools, one
// with an empty list none.
func offered(n config.AutoRunNode, t toolbox.Tool) bool {
	return n.Tools == nil || slices.Contains(n.Tools, t.Name) || slices.Contains(n.Tools, t.Server)
}
