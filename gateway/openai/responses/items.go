package responses

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/openai"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

// The limits of a page.
const (
	usualPage = 20
	maxPage   = 100
)

// inputList has the input items of a response.
type inputList struct {
	Object  string           `json:"object"`
	Data    []map[string]any `json:"data"`
	FirstID string           `json:"first_id"`
	LastID  string           `json:"last_id"`
	HasMore bool             `json:"has_more"`
}

// Inputs replies with the input items of a response: the results and the answers that its request has brought, and the
// message behind them. What the request has repeated of the chat before is not listed.
func (ep *Endpoint) Inputs(c echo.Context) error {
	p, err := pageOf(c)
	if err != nil {
		return err
	}
	s, err := ep.load(c, false)
	if err != nil {
		return err
	}
	k, err := ep.kept(c, s)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, p.of(s.inputs(k.Answers)))
}

// page is which items a client asks for: those behind the one with the ID after, in an order.
type page struct {
	after  string
	limit  int
	oldest bool // the oldest first
}

func pageOf(c echo.Context) (page, error) {
	p := page{after: c.QueryParam("after"), limit: usualPage, oldest: c.QueryParam("order") == "asc"}
	if text := c.QueryParam("limit"); text != "" {
		var err error
		if p.limit, err = strconv.Atoi(text); err != nil || p.limit < 1 || p.limit > maxPage {
			return p, invalid("limit: expected a number from 1 to %d", maxPage)
		}
	}
	if order := c.QueryParam("order"); order != "" && order != "asc" && order != "desc" {
		return p, invalid("order: expected asc or desc")
	}
	return p, nil
}

// of returns the page of all items, which are the oldest first.
func (p page) of(all []map[string]any) inputList {
	if !p.oldest {
		slices.Reverse(all)
	}
	at := slices.IndexFunc(all, func(item map[string]any) bool { return item["id"] == p.after })
	all = all[at+1:]
	list := inputList{Object: "list", Data: []map[string]any{}, HasMore: len(all) > p.limit}
	if list.Data = append(list.Data, all[:min(len(all), p.limit)]...); len(list.Data) > 0 {
		list.FirstID, _ = list.Data[0]["id"].(string)
		list.LastID, _ = list.Data[len(list.Data)-1]["id"].(string)
	}
	return list
}

// inputs returns the input items, the oldest first. answered are the approvals that the request has answered, if it has
// brought more than what the record has as its entry.
func (s stored) inputs(answered []string) (items []map[string]any) {
	entries := s.state.Entries()
	for _, uuid := range answered {
		at := slices.IndexFunc(entries, func(e record.Entry) bool { return e.Approval != nil && e.Approval.UUID == uuid })
		if at >= 0 {
			items = append(items, s.answer(entries[at:]))
		}
	}
	switch {
	case s.entry.Kind == record.KindMessage:
		items = append(items, map[string]any{
			"id": itemID("msg", s.id, "input"), "type": "message", "role": "user", "status": statusCompleted,
			"content": []map[string]any{{"type": "input_text", "text": s.entry.Text}},
		})
	case s.entry.Approval != nil && len(items) == 0:
		items = append(items, s.answer(entries[s.entry.Seq-1:]))
	}
	return items
}

// answer returns the item of the decision with which entries of the record begin.
func (s stored) answer(from []record.Entry) map[string]any {
	a, end := from[0].Approval, "input"+compact(from[0].Approval.UUID)[:8]
	if !from[0].OfClientTool() {
		return map[string]any{
			"id": itemID("mcprr", s.id, end), "type": typeAnswer, "approval_request_id": approvalID(a.UUID), "approve": a.Decision == contract.Approved, "reason": a.Reason,
		}
	}
	return map[string]any{
		"id": itemID("fco", s.id, end), "type": typeOutput, "status": statusCompleted,
		"call_id": openai.CallID(contract.PendingApproval{UUID: a.UUID}), "output": outputOf(*a, from),
	}
}

// outputOf returns what the client has brought as the result of a call. The record has it with the result: of several
// calls of one function, it is the one from which the ID of the decision is made.
func outputOf(a contract.ApprovalResult, entries []record.Entry) (output string) {
	found := false
	for _, e := range entries {
		if e.Kind != record.KindResult || e.Missing || e.ToolCall.Name != a.Tool {
			continue
		}
		text := e.ToolCall.Result.Inline
		if openai.IsResult(a, text) {
			return text
		}
		if !found {
			output, found = text, true
		}
	}
	return output
}
