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

// shelf is where tools are found.
type shelf interface {
	Tools(ctx context.Context) []toolbox.Tool
	States() []contract.ServerState
}

// lookEvery is how long to wait before looking again whether the servers that
// were missing are there.
const lookEvery = 5 * time.Second

// unasked warns of nodes that run destructive tools without asking.
type unasked struct {
	nodes  []config.AtOnceNode
	shelf  shelf
	logger *slog.Logger
	named  map[string][]string // tools already warned of, by node
}

func warnUnasked(ctx context.Context, nodes []config.AtOnceNode, s shelf, logger *slog.Logger) {
	if len(nodes) == 0 {
		return
	}
	u := unasked{nodes: nodes, shelf: s, logger: logger, named: map[string][]string{}}
	u.watch(ctx)
}

// watch looks until every server is there, or ctx ends.
func (u *unasked) watch(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	u.shelf.Tools(ctx) // waits for servers that are being started
	for {
		complete := u.complete() // first, so that who comes in between is seen
		u.warn(u.shelf.Tools(ctx))
		if complete {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (u *unasked) complete() bool {
	return !slices.ContainsFunc(u.shelf.States(), func(s contract.ServerState) bool { return !s.Ready })
}

// warn names each tool of a node once: a server that comes late brings another
// line.
func (u *unasked) warn(tools []toolbox.Tool) {
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

// offered tells whether a node may call a tool. A node without a list may call
// all, one with an empty list none.
func offered(n config.AtOnceNode, t toolbox.Tool) bool {
	return n.Tools == nil || slices.Contains(n.Tools, t.Name) || slices.Contains(n.Tools, t.Server)
}
