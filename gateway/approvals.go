package gateway

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/document"
)

func approvalParam(c echo.Context) (string, error) {
	uuid := c.Param("uuid")
	if !contract.IsUUID(uuid) {
		return "", noApproval(uuid)
	}
	return uuid, nil
}

func approvalPath(uuid string) string { return "/approvals/" + uuid }

func noApproval(uuid string) *Error {
	return Errorf(contract.KindNotFound, "no conversation found with approval UUID: %s", printable(uuid))
}

type approvalReply struct {
	Approval contract.PendingApproval `json:"approval"`
	// Status is pending or the decision.
	Status   string                   `json:"status"`
	Decision *contract.ApprovalResult `json:"decision,omitempty"`
	Problem  string                   `json:"problem,omitempty"`
}

// approval answers with an approval and, if there is one, its decision.
func (g *Gateway) approval(c echo.Context) error {
	uuid, err := approvalParam(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	view, err := g.Backend.Approval(ctx, uuid)
	if err != nil {
		return err
	}
	c.Set(keyConversation, view.Pending.ConversationID)
	reply := approvalReply{Status: "pending", Problem: view.Problem}
	if reply.Approval, err = document.Pending(ctx, g.Blobs, view.Pending); err != nil {
		return err
	}
	if view.Result != nil {
		record := *view.Result
		record.Credential, record.Content = "", contract.JSON{}
		reply.Status, reply.Decision = string(record.Decision), &record
	}
	return c.JSON(http.StatusOK, reply)
}

type waitingReply struct {
	Approvals  []WaitingItem `json:"approvals"`
	NextCursor string        `json:"next_cursor,omitempty"`
}

// waiting answers with a page of what waits for a decision.
func (g *Gateway) waiting(c echo.Context) error {
	q, err := listQuery(c)
	if err != nil {
		return err
	}
	page, err := g.Backend.Waiting(c.Request().Context(), q)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, waitingReply{orEmpty(page.Items), encodeCursor(page.Next)})
}
