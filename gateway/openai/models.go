package openai

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/offers"
)

// Models serves the names under which clients ask the agent.
type Models struct{ Of offers.Models }

// Model is an entry of the list.
type Model struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

type modelList struct {
	Object string  `json:"object"`
	Data   []Model `json:"data"`
}

func (m Models) entry(name string) Model {
	return Model{name, "model", m.Of.Since.Unix(), "agent-stop-and-go"}
}

// List replies with all models.
func (m Models) List(c echo.Context) error {
	list := modelList{"list", []Model{}}
	for _, name := range m.Of.Names() {
		list.Data = append(list.Data, m.entry(name))
	}
	return c.JSON(http.StatusOK, list)
}

// Show replies with one model.
func (m Models) Show(c echo.Context) error {
	t, err := m.Of.Target(c.Param("model"))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, m.entry(t.Name))
}
