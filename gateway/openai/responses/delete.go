package responses

import (
	"context"
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/openai"
	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

// deleted is what Delete replies with. Deleted is false while the deletion goes on.
type deleted struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Deleted bool   `json:"deleted"`
}

// Delete deletes a response with its conversation, which nothing else may be in: a turn alone cannot be taken out of a
// record. It is refused with 409 otherwise, while an approval waits, and while the response is not complete. If it takes
// long it goes on after the reply, a 202.
func (ep *Endpoint) Delete(c echo.Context) error {
	s, err := ep.load(c, false)
	if err != nil {
		return err
	}
	if err := s.deletable(); err != nil {
		return err
	}
	ctx := c.Request().Context()
	_, err = ep.Talk.Exchanges.Service.DeleteUnchanged(ctx, request.From(ctx).Caller, s.request.ConversationID, s.state.View.UpdatedAt)
	out := deleted{ID: s.id, Object: "response", Deleted: true}
	switch {
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, service.ErrClosing):
		out.Deleted = false
		c.Response().Header().Set("Location", c.Request().URL.Path)
		c.Response().Header().Set("Retry-After", "1")
		return c.JSON(http.StatusAccepted, out)
	case err != nil:
		return err
	}
	return c.JSON(http.StatusOK, out)
}

// deletable returns why a response cannot be deleted, or nil.
func (s stored) deletable() error {
	refuse := func(code, format string, args ...any) error {
		return &openai.Fault{Code: code, Err: service.Errorf(contract.KindWaiting, format, args...)}
	}
	switch id := s.request.ConversationID; {
	case len(s.state.Document.PendingApprovals) > 0:
		return refuse(string(contract.KindWaiting), "an approval of the conversation waits, or a call that the client makes: answer it first, or withdraw it and delete the conversation with DELETE /conversations/%s?force=true", id)
	case !s.alone():
		return refuse("conversation_has_more", "the response is a part of a conversation with more in it, which can only be deleted as a whole: DELETE /conversations/%s", id)
	case !s.settled || s.state.View.Running:
		return refuse("response_not_complete", "the response is not complete: cancel it first with POST /v1/responses/%s/cancel", s.id)
	}
	return nil
}

// alone reports whether the conversation has nothing but the response: one message, and no decision behind which its turn
// went on in another response.
func (s stored) alone() bool {
	begins := 0
	for _, e := range s.state.Entries() {
		if e.Kind == record.KindMessage || e.Kind == record.KindDecision {
			begins++
		}
	}
	return begins == 1 && s.entry.Kind == record.KindMessage && s.state.View.Queued == 0
}
