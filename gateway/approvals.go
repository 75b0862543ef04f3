package gateway

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/judgement"
)

func approvalParam(c echo.Context) (string, error) {
	uuid := c.Param("uuid")
	if !contract.IsUUID(uuid) {
		return "", service.NoApproval(uuid)
	}
	return uuid, nil
}

func approvalPath(uuid string) string { return "/approvals/" + uuid }

type approvalReply struct {
	Approval contract.PendingApproval `json:"approval"`
	// Status is pending, or the decision.
	Status   string                   `json:"status"`
	Decision *contract.ApprovalResult `json:"decision,omitempty"`
	// TemporalIdentity is whose signal decided, as its client calls itself. Nothing proves it.
	TemporalIdentity string `json:"temporal_identity,omitempty"`
	Problem          string `json:"problem,omitempty"`
	// DeferredUntil is until when the caller put the approval off.
	DeferredUntil *time.Time     `json:"deferred_until,omitempty"`
	Reminded      []time.Time    `json:"reminded_at,omitempty"`
	Judgements    judgement.List `json:"judgements,omitempty"`
	Request       *decisionReply `json:"request,omitempty"`
}

// decisionReply is the status of a decision that was accepted with a 202.
type decisionReply struct {
	RequestID string `json:"request_id"`
	// Status is running, settled, or refused if another decision counts.
	Status string `json:"status"`
	Error  string `json:"error,omitempty"`
}

// decisionOf returns the status of a decision. An approval records only the decision that
// counts, so a late decision, one that has not arrived and an unknown ID look the same.
func decisionOf(requestID string, record *contract.ApprovalResult) *decisionReply {
	switch {
	case record == nil:
		return &decisionReply{RequestID: requestID, Status: statusRunning}
	case record.RequestID == requestID:
		return &decisionReply{RequestID: requestID, Status: statusSettled}
	}
	return &decisionReply{RequestID: requestID, Status: statusRefused, Error: service.AlreadyDecided(*record)}
}

// approval replies with an approval and its decision, if there is one.
func (h *rest) approval(c echo.Context) error {
	uuid, err := approvalParam(c)
	if err != nil {
		return err
	}
	requestID := c.QueryParam("request_id")
	if requestID != "" && !contract.IsUUID(requestID) {
		return service.NoRequest(requestID)
	}
	ctx := c.Request().Context()
	view, err := h.service.Approval(ctx, uuid)
	if err != nil {
		return err
	}
	callOf(c).ConversationID = view.Pending.ConversationID
	reply := approvalReply{Status: "pending", Problem: view.Problem}
	if reply.Approval, err = h.service.Pending(ctx, view.Pending); err != nil {
		return err
	}
	reply.DeferredUntil, reply.Reminded, reply.Judgements = service.DeferredUntil(ctx, view.Deferrals), view.Reminded, view.Judgements
	if view.Result != nil {
		record := view.Result.Public()
		reply.Status, reply.Decision = string(record.Decision), &record
		if reply.TemporalIdentity, err = h.service.Typist(ctx, record); err != nil {
			return err
		}
	}
	if requestID != "" {
		reply.Request = decisionOf(requestID, view.Result)
	}
	return c.JSON(http.StatusOK, reply)
}

type waitingReply struct {
	Approvals  []service.WaitingItem `json:"approvals"`
	NextCursor string                `json:"next_cursor,omitempty"`
}

// waiting replies with a page of the approvals that wait for a decision.
func (h *rest) waiting(c echo.Context) error {
	q, err := listQuery(c)
	if err != nil {
		return err
	}
	page, err := h.service.Waiting(c.Request().Context(), q)
	if err != nil {
		return err
	}
	for i, item := range page.Items {
		page.Items[i].URL = approvalPath(item.UUID)
	}
	return c.JSON(http.StatusOK, waitingReply{orEmpty(page.Items), request.EncodeCursor(page.Next)})
}
