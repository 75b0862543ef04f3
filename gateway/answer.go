package gateway

import (
	"context"
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// accepted is the body of a 202.
type accepted struct {
	RequestID      string `json:"request_id"`
	ConversationID string `json:"conversation_id,omitempty"`
	Status         string `json:"status"`
	// Decision is the recorded decision, and Problem says why the reply has no more than
	// that.
	Decision *contract.ApprovalResult `json:"decision,omitempty"`
	Problem  string                   `json:"problem,omitempty"`
}

// The status of an accepted request.
const (
	statusRunning = "running"
	statusSettled = "settled"
	statusRefused = "refused"
)

// pending is a request that was sent, and how to answer it.
type pending struct {
	service.Request
	status   int    // of the reply, unless it is an error
	location string // where to read the answer if it takes too long
	repeated bool   // the request was sent before
	replayed bool   // the answer is known to be that of an earlier request
	// decision has been recorded. A failure after that must not hide it.
	decision *contract.ApprovalResult
}

// await replies with the settlement of a request, or with a 202. The settlement of a repeated
// request is read first, because waiting writes history.
func (h *rest) await(c echo.Context, p pending) error {
	ctx := c.Request().Context()
	if p.repeated {
		s, err := h.service.Settled(ctx, p.Request)
		if err != nil {
			return h.unread(c, p, err)
		}
		if s != nil {
			return h.answer(c, p, *s)
		}
	}
	if request.PrefersAsync(c.Request()) {
		c.Response().Header().Set("Preference-Applied", "respond-async")
		return accept(c, p, "")
	}
	s, err := h.service.Await(ctx, p.Request)
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, service.ErrClosing) {
		return accept(c, p, "")
	}
	if err != nil {
		return h.unread(c, p, err)
	}
	return h.answer(c, p, s)
}

// unread replies when the settlement of a request cannot be read. If a decision was recorded
// it returns that, because the call may have run.
func (h *rest) unread(c echo.Context, p pending, err error) error {
	if p.decision == nil || c.Request().Context().Err() != nil {
		return err
	}
	h.logger.Error("what came of a decision cannot be read now", "approval", p.decision.UUID, "conversation", p.ConversationID, "error", err)
	return accept(c, p, "the decision was taken, and what it approved may have run; what came of it cannot be read now: "+service.Problem(err))
}

// accept replies with a 202.
func accept(c echo.Context, p pending, problem string) error {
	location := p.location
	if location == "" {
		location = requestPath(p.ConversationID, p.ID)
	}
	c.Response().Header().Set("Location", location)
	c.Response().Header().Set("Retry-After", "1")
	return c.JSON(http.StatusAccepted, accepted{p.ID, p.ConversationID, statusRunning, p.decision, problem})
}

func requestPath(conversationID, requestID string) string {
	return "/conversations/" + conversationID + "/requests/" + requestID
}

// answer replies with the settlement of a request.
func (h *rest) answer(c echo.Context, p pending, s service.Settlement) error {
	reply, err := h.service.Reply(c.Request().Context(), p.Request, s)
	if p.replayed && !service.IsKind(err, contract.KindKeyReused) {
		c.Response().Header().Set(headerReplayed, "true")
	}
	if err != nil {
		return err
	}
	return c.JSON(p.status, reply)
}

// answerKnown replies to a request that was not sent. A request that was carried out before
// gets its first answer.
func (h *rest) answerKnown(c echo.Context, p pending, s service.Settlement) error {
	p.replayed = s.Outcome.Settled && !s.Outcome.Predicted
	if s.View.Status == contract.StatusCompleted {
		return h.answerCompleted(c, p, s)
	}
	return h.answer(c, p, s)
}

// answerCompleted replies to a request for a completed conversation.
func (h *rest) answerCompleted(c echo.Context, p pending, s service.Settlement) error {
	if s.Outcome.Refused != "" && p.MayBeCompleted && s.Outcome.Result == nil {
		s.Outcome.Result = &contract.Result{}
	}
	return h.answer(c, p, s)
}

// answerSent replies after Send. It waits for the settlement unless the conversation knew it
// already.
func (h *rest) answerSent(c echo.Context, p pending, known *service.Settlement, err error) error {
	switch {
	case service.IsKind(err, contract.KindCompleted):
		s, err := h.service.Completed(c.Request().Context(), p.Request)
		if err != nil {
			return err
		}
		return h.answerKnown(c, p, s)
	case err != nil:
		return err
	case known != nil:
		return h.answerKnown(c, p, *known)
	}
	return h.await(c, p)
}
