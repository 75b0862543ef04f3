package responses

import (
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/workflows/contract"
)

// maxPage is the largest limit of a page.
const maxPage = 100

// inputList has the input items of a response.
type inputList struct {
	Object  string           `json:"object"`
	Data    []map[string]any `json:"data"`
	FirstID string           `json:"first_id"`
	LastID  string           `json:"last_id"`
	HasMore bool             `json:"has_more"`
}

// Inputs replies with the input items of a response: the message that it answers, or the decision.
func (ep *Endpoint) Inputs(c echo.Context) error {
	after, err := pageOf(c)
	if err != nil {
		return err
	}
	s, err := ep.load(c, false)
	if err != nil {
		return err
	}
	list := inputList{Object: "list", Data: []map[string]any{}}
	if item := s.input(); s.entry.Kind != 0 && item["id"] != after {
		list.Data = append(list.Data, item)
		list.FirstID, _ = item["id"].(string)
		list.LastID = list.FirstID
	}
	return c.JSON(http.StatusOK, list)
}

// pageOf returns the item behind which a page begins, or "". There is one item, so each order and limit has it.
func pageOf(c echo.Context) (after string, err error) {
	if text := c.QueryParam("limit"); text != "" {
		if n, err := strconv.Atoi(text); err != nil || n < 1 || n > maxPage {
			return "", invalid("limit: expected a number from 1 to %d", maxPage)
		}
	}
	if order := c.QueryParam("order"); order != "" && order != "asc" && order != "desc" {
		return "", invalid("order: expected asc or desc")
	}
	return c.QueryParam("after"), nil
}

func (s stored) input() map[string]any {
	id := itemID("msg", s.id, "input")
	if a := s.entry.Approval; a != nil {
		return map[string]any{
			"id": id, "type": typeAnswer, "approval_request_id": approvalID(a.UUID), "approve": a.Decision == contract.Approved, "reason": a.Reason,
		}
	}
	return map[string]any{
		"id": id, "type": "message", "role": "user", "status": statusCompleted,
		"content": []map[string]any{{"type": "input_text", "text": s.entry.Text}},
	}
}
