package gateway

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/workflows/contract"
)

type toolsReply struct {
	Tools   []contract.Tool        `json:"tools"`
	Servers []contract.ServerState `json:"servers"`
	Model   contract.ModelState    `json:"model"`
}

// tools answers with what a worker offers.
func (g *Gateway) tools(c echo.Context) error {
	catalogue, err := g.catalogue.get(c.Request().Context())
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, toolsReply{orEmpty(catalogue.Tools), orEmpty(catalogue.Servers), catalogue.Model})
}

// listResources answers with what the tool servers have to be read.
func (g *Gateway) listResources(c echo.Context) error {
	list, err := g.resources.get(c.Request().Context())
	if err != nil {
		return err
	}
	list.Resources, list.Templates, list.Servers = orEmpty(list.Resources), orEmpty(list.Templates), orEmpty(list.Servers)
	return c.JSON(http.StatusOK, list)
}

// listPrompts answers with the prompts that the tool servers offer.
func (g *Gateway) listPrompts(c echo.Context) error {
	list, err := g.prompts.get(c.Request().Context())
	if err != nil {
		return err
	}
	list.Prompts, list.Servers = orEmpty(list.Prompts), orEmpty(list.Servers)
	return c.JSON(http.StatusOK, list)
}
