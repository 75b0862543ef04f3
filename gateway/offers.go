package gateway

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

// offers answers with what the agent can do.
type offers struct {
	service *service.Service
	agent   contract.Agent
}

// tools answers with what a worker offers, and with the agents that models delegate to.
func (o *offers) tools(c echo.Context) error {
	catalogue, err := o.service.Catalogue(c.Request().Context())
	if err != nil {
		return err
	}
	tools := withDelegations(catalogue.Tools, o.agent.Root())
	return c.JSON(http.StatusOK, toolsReply{tools, orEmpty(catalogue.Servers), catalogue.Model})
}

// withDelegations adds the tools that the llm nodes of a tree delegate with. A server's
// tool of such a name is not on offer. Nodes may differ in whether they ask: then the
// list says that they do.
func withDelegations(tools []contract.Tool, root contract.Node) []contract.Tool {
	var own []contract.Tool
	for _, p := range delegationsOf(root) {
		i := slices.IndexFunc(own, func(t contract.Tool) bool { return t.Name == p.Tool() })
		switch {
		case i < 0:
			own = append(own, p.Delegation())
		case p.Destructive:
			own[i] = p.Delegation()
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

// delegationsOf are the agents on offer to the llm nodes of a tree.
func delegationsOf(n contract.Node) []contract.Peer {
	list := slices.Clone(n.Peers)
	for _, inside := range n.Nodes {
		list = append(list, delegationsOf(inside)...)
	}
	return list
}

// resources answers with what the tool servers have to be read.
func (o *offers) resources(c echo.Context) error {
	list, err := o.service.Resources(c.Request().Context())
	if err != nil {
		return err
	}
	list.Resources, list.Templates, list.Servers = orEmpty(list.Resources), orEmpty(list.Templates), orEmpty(list.Servers)
	return c.JSON(http.StatusOK, list)
}

// prompts answers with the prompts that the tool servers offer.
func (o *offers) prompts(c echo.Context) error {
	list, err := o.service.Prompts(c.Request().Context())
	if err != nil {
		return err
	}
	list.Prompts, list.Servers = orEmpty(list.Prompts), orEmpty(list.Servers)
	return c.JSON(http.StatusOK, list)
}
