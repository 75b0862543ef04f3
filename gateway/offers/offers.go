// Package offers serves what the agent can do: its tools, and the resources and prompts of tool
// servers.
package offers

import (
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

type toolsReply struct {
	Tools   []contract.Tool        `json:"tools"`
	Servers []contract.ServerState `json:"servers"`
	Model   contract.ModelState    `json:"model"`
}

// Endpoint has the handlers.
type Endpoint struct {
	Service *service.Service
	Agent   contract.Agent
}

// Tools replies with the tools of a worker, and the agents that models delegate to.
func (e *Endpoint) Tools(c echo.Context) error {
	catalogue, err := e.Service.Catalogue(c.Request().Context())
	if err != nil {
		return err
	}
	tools := withDelegations(catalogue.Tools, e.Agent.Root())
	return c.JSON(http.StatusOK, toolsReply{tools, orEmpty(catalogue.Servers), catalogue.Model})
}

// withDelegations adds the delegation tools of the llm nodes in a tree. A server's tool with
// the same name is replaced. If nodes differ in whether a delegation needs approval, the list
// says that it does.
func withDelegations(tools []contract.Tool, root contract.Node) []contract.Tool {
	var own []contract.Tool
	for _, p := range delegationsOf(root) {
		i := slices.IndexFunc(own, func(t contract.Tool) bool { return t.Name == p.Tool() })
		switch {
		case i < 0:
			own = append(own, contract.Delegation(p))
		case p.Destructive:
			own[i] = contract.Delegation(p)
		}
	}
	out := []contract.Tool{}
	for _, t := range tools {
		if !slices.ContainsFunc(own, func(d contract.Tool) bool { return d.Name == t.Name }) {
			out = append(out, t)
		}
	}
	return append(out, own...)
}

// delegationsOf returns the agents that the llm nodes of a tree may delegate to.
func delegationsOf(n contract.Node) []contract.Peer {
	list := slices.Clone(n.Peers)
	for _, inside := range n.Nodes {
		list = append(list, delegationsOf(inside)...)
	}
	return list
}

// Resources replies with the resources of all tool servers.
func (e *Endpoint) Resources(c echo.Context) error {
	list, err := e.Service.Resources(c.Request().Context())
	if err != nil {
		return err
	}
	list.Resources, list.Templates, list.Servers = orEmpty(list.Resources), orEmpty(list.Templates), orEmpty(list.Servers)
	return c.JSON(http.StatusOK, list)
}

// Prompts replies with the prompts of all tool servers.
func (e *Endpoint) Prompts(c echo.Context) error {
	list, err := e.Service.Prompts(c.Request().Context())
	if err != nil {
		return err
	}
	list.Prompts, list.Servers = orEmpty(list.Prompts), orEmpty(list.Servers)
	return c.JSON(http.StatusOK, list)
}

// orEmpty returns an empty list for nil, which would be null in JSON.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
