package gateway

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/workflows/record/document"
)

// tree answers with how the last turn of a conversation goes through the tree.
func (g *Gateway) tree(c echo.Context) error {
	id, err := conversationParam(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	view, err := g.Backend.Tree(ctx, id)
	if err != nil {
		return err
	}
	tree, err := document.RenderTree(ctx, g.Blobs, view)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, tree)
}
