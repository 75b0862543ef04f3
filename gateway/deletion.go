package gateway

import (
	"context"
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
)

// deletionReply is the tombstone of a conversation, without its owner, whose key is not for
// callers.
type deletionReply struct {
	ConversationID string              `json:"conversation_id"`
	Status         string              `json:"status"` // deleted, or running
	Deletion       *deletion.Tombstone `json:"deletion,omitempty"`
}

// deleteConversation deletes a conversation. If that takes long, it goes on after the reply.
func (h *rest) deleteConversation(c echo.Context) error {
	id, err := conversationParam(c)
	if err != nil {
		return err
	}
	force, err := forced(c)
	if err != nil {
		return err
	}
	t, err := h.service.Delete(c.Request().Context(), callerOf(c), id, force)
	switch {
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, service.ErrClosing):
		c.Response().Header().Set("Location", "/conversations/"+id)
		c.Response().Header().Set("Retry-After", "1")
		return c.JSON(http.StatusAccepted, deletionReply{ConversationID: id, Status: statusRunning})
	case err != nil:
		return err
	}
	return c.JSON(http.StatusOK, deletionReply{id, "deleted", public(*t)})
}

// forced reads the parameter force.
func forced(c echo.Context) (bool, error) {
	switch v := c.QueryParam("force"); v {
	case "", "false":
		return false, nil
	case "true":
		return true, nil
	default:
		return false, service.Errorf(contract.KindInvalid, "force: expected true or false, not %q", service.Printable(v))
	}
}

// public returns a tombstone as callers see it.
func public(t deletion.Tombstone) *deletion.Tombstone {
	t.Owner = ""
	return &t
}
