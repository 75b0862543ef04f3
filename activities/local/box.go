package local

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/activities/toolbox/schema"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/local"
)

// Box is the tools of servers and those of the agent itself. A tool of a server that has the name
// of one of the agent's is not on offer. The calls of the agent's are made by Tools.Call.
type Box struct {
	*toolbox.Toolbox
	Own *Tools // nil has none
}

// Tools lists all tools, the agent's last.
func (b Box) Tools(ctx context.Context) []toolbox.Tool {
	own := b.Own.offered()
	list := slices.DeleteFunc(b.Toolbox.Tools(ctx), func(t toolbox.Tool) bool { return find(own, t.Name) != nil })
	return append(list, own...)
}

// Check implements activities.Offer.
func (b Box) Check(ctx context.Context, name string, args json.RawMessage) (fixed json.RawMessage, problem string) {
	if t := find(b.Own.offered(), name); t != nil {
		return args, schema.Misfit(t.InputSchema, args)
	}
	return b.Toolbox.Check(ctx, name, args)
}

// States reports for every server whether it answers. The agent's own tools are those of one that
// always does.
func (b Box) States() []contract.ServerState {
	out := b.Toolbox.States()
	if own := b.Own.offered(); len(own) > 0 {
		out = append(out, contract.ServerState{Name: local.Server, Ready: true, Tools: len(own)})
	}
	return out
}

// Conflicts lists the tools that cannot be called because another has their name.
func (b Box) Conflicts() []string {
	out := b.Toolbox.Conflicts()
	own := b.Own.offered()
	if len(own) == 0 {
		return out
	}
	for _, t := range b.Toolbox.Tools(context.Background()) {
		if find(own, t.Name) != nil {
			out = append(out, fmt.Sprintf("MCP server %q has the tool %s, which the agent itself offers (local_tools), and it cannot be called: "+
				"set prefix: true on the server, or name it in its tools.deny", t.Server, t.Name))
		}
	}
	return out
}

func find(list []toolbox.Tool, name string) *toolbox.Tool {
	if i := slices.IndexFunc(list, func(t toolbox.Tool) bool { return t.Name == name }); i >= 0 {
		return &list[i]
	}
	return nil
}
