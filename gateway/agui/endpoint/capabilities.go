package endpoint

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// Capabilities returns what AG-UI clients may expect of the agent. Without a worker that
// lists the tools, it returns none.
func (e *Endpoint) Capabilities(c echo.Context) error {
	catalogue, err := e.service.Catalogue(c.Request().Context())
	if err != nil && !service.IsKind(err, service.KindUnavailable) {
		return err
	}
	tools := map[string]any{"supported": true, "clientProvided": true}
	if err == nil {
		tools["items"] = toolItems(catalogue.Tools)
	}
	return c.JSON(http.StatusOK, map[string]any{
		"identity": e.identity(),
		"transport": map[string]any{
			"streaming": true, "websocket": false, "httpBinary": false, "pushNotifications": false, "resumable": true,
		},
		"tools":      tools,
		"output":     map[string]any{"supportedMimeTypes": []string{"text/plain"}},
		"state":      map[string]any{"snapshots": true, "deltas": true, "persistentState": true},
		"multiAgent": e.composition(),
		"reasoning":  map[string]any{"supported": true, "streaming": true, "encrypted": false},
		"multimodal": map[string]any{"input": map[string]any{
			"image": false, "audio": false, "video": false, "pdf": false, "file": false,
		}},
		"execution": map[string]any{"codeExecution": false},
		"humanInTheLoop": map[string]any{
			"supported": true, "approvals": true, "interrupts": true, "approveWithEdits": true,
		},
	})
}

func (e *Endpoint) identity() map[string]any {
	out := map[string]any{"name": e.agent.Name, "type": "agent-stop-and-go"}
	if e.agent.Description != "" {
		out["description"] = e.agent.Description
	}
	if e.version != "" {
		out["version"] = e.version
	}
	return out
}

// composition lists the nodes of a composite agent and the agents to which work is delegated.
func (e *Endpoint) composition() map[string]any {
	root := e.agent.Root()
	subagents := []map[string]any{}
	for _, n := range root.Nodes {
		subagents = append(subagents, map[string]any{"name": n.Name})
	}
	for _, p := range root.Peers {
		subagents = append(subagents, map[string]any{"name": p.Name})
	}
	if len(subagents) == 0 {
		return map[string]any{"supported": false}
	}
	return map[string]any{"supported": true, "delegation": delegates(root), "subagents": subagents}
}

func delegates(n contract.Node) bool {
	if len(n.Peers) > 0 || n.Peer != nil {
		return true
	}
	for _, inside := range n.Nodes {
		if delegates(inside) {
			return true
		}
	}
	return false
}

func toolItems(tools []contract.Tool) []map[string]any {
	items := []map[string]any{}
	for _, t := range tools {
		item := map[string]any{"name": t.Name, "description": t.Description, "metadata": map[string]any{"destructive": t.DestructiveHint}}
		if len(t.InputSchema) > 0 {
			item["parameters"] = t.InputSchema
		}
		items = append(items, item)
	}
	return items
}
