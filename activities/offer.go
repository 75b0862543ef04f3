package activities

import (
	"context"
	"encoding/json"
	"slices"

	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
)

// Offer is the tools that a model is offered.
type Offer interface {
	// Tools returns the tools, including those that servers list only with a token of
	// bearer.FromContext.
	Tools(ctx context.Context) []toolbox.Tool
	// Check returns arguments that fit the tool's schema, or the problem.
	Check(ctx context.Context, tool string, args json.RawMessage) (fixed json.RawMessage, problem string)
}

const (
	exitSchema      = `{"type":"object","properties":{},"additionalProperties":false}`
	exitDescription = "Leave the loop: call this when the work is done and needs no further iteration."
)

// offeredTool is a tool that a model may call: of a server, of the client, or one of ours,
// which delegates to a peer or leaves the loop.
type offeredTool struct {
	contract.Tool
	peer   *contract.Peer
	exit   bool
	login  bool // bearer.ToolLogIn
	client bool // called by who sent the message
	mayAsk bool
	// wording selects the sentences that describe a call.
	wording contract.Wording
	bound   toolbox.Tool // tool that a destructive call is bound to
}

// offeredTools lists the tools that a model may call: those of servers that the input allows,
// the client's, one for each peer, and exit_loop. Our own tools take precedence over servers'
// tools of the same name, and both over the client's.
func offeredTools(in contract.GenerateInput, tools []toolbox.Tool, clients []contract.Tool) []offeredTool {
	own := ownTools(in)
	var out []offeredTool
	for _, t := range tools {
		if _, taken := findTool(own, t.Name); !taken && allowed(in.Tools, t) {
			out = append(out, offeredTool{Tool: t.Tool, mayAsk: t.MayAsk, wording: t.Wording, bound: t})
		}
	}
	for _, t := range clients {
		_, taken := findTool(slices.Concat(own, out), t.Name)
		if !taken && (in.Tools == nil || slices.Contains(in.Tools, t.Name)) {
			out = append(out, offeredTool{Tool: t, client: true})
		}
	}
	return append(out, own...)
}

// allowed reports whether a list of servers and tools includes a tool. A nil list includes
// every tool, an empty one none.
func allowed(list []string, t toolbox.Tool) bool {
	return list == nil || slices.Contains(list, t.Name) || slices.Contains(list, t.Server)
}

func ownTools(in contract.GenerateInput) []offeredTool {
	var out []offeredTool
	for _, p := range in.Peers {
		out = append(out, offeredTool{peer: &p, Tool: contract.Delegation(p)})
	}
	if in.ExitLoop {
		out = append(out, offeredTool{exit: true, Tool: contract.Tool{
			Name: contract.ToolExitLoop, Description: exitDescription, InputSchema: json.RawMessage(exitSchema),
		}})
	}
	return out
}

func findTool(list []offeredTool, name string) (offeredTool, bool) {
	i := slices.IndexFunc(list, func(o offeredTool) bool { return o.Name == name })
	if i < 0 {
		return offeredTool{}, false
	}
	return list[i], true
}
