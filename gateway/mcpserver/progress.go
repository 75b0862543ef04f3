package mcpserver

import (
	"github.com/mark3labs/mcp-go/mcp"

	"agent-stop-and-go/workflows/record"
)

// progress tells a client what the agent writes. It implements exchange.Listener.
type progress struct {
	*ask
	token mcp.ProgressToken // nil if the client wants none
	told  int
	// kept is what could not be sent yet, because the client reads slowly.
	kept string
}

func (a *ask) progress(r mcp.CallToolRequest) *progress {
	p := &progress{ask: a}
	if r.Params.Meta != nil {
		p.token = r.Params.Meta.ProgressToken
	}
	return p
}

// Tell implements exchange.Listener.
func (p *progress) Tell(piece string) error {
	p.kept += piece
	p.send()
	return nil
}

// Entries implements exchange.Listener.
func (p *progress) Entries([]record.Entry) error { return nil }

// KeepAlive implements exchange.Listener.
func (p *progress) KeepAlive() error {
	p.send()
	return nil
}

// send sends a notification. What is lost of them is in the result.
func (p *progress) send() {
	if p.token == nil {
		p.kept = ""
		return
	}
	params := map[string]any{"progressToken": p.token, "progress": p.told + 1}
	if p.kept != "" {
		params["message"] = p.kept
	}
	if p.mcp.SendNotificationToClient(p.ctx, "notifications/progress", params) == nil {
		p.told++
		p.kept = ""
	}
}
