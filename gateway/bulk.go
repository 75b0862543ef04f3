package gateway

import (
	"encoding/json"
	"net/http"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/bulk"
	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// decideAll carries out several decisions, and does not wait for the turns that go on.
func (h *rest) decideAll(c echo.Context) error {
	decisions, err := bulk.Read(c)
	if err != nil {
		return err
	}
	key, err := request.IdempotencyKey(c.Request())
	if err != nil {
		return err
	}
	return bulk.Reply(c, decisions, func(d bulk.Decision) bulk.Result { return h.decideOne(c, d, key) })
}

func (h *rest) decideOne(c echo.Context, given bulk.Decision, key string) bulk.Result {
	out := bulk.Result{UUID: given.UUID, Status: http.StatusOK}
	record, sent, err := h.decideSingly(c, given, key)
	switch {
	case err != nil && sent:
		out.Status = http.StatusAccepted
	case err != nil:
		status, body := render(err, c.Request())
		if out.Status, out.Error, out.Decision = status, body.Error, body.Decision; status == http.StatusInternalServerError {
			h.logger.Error("a decision of several", "approval", given.UUID, "error", err)
		}
	default:
		out.Decision = &record
	}
	return out
}

// decideSingly sends a decision after the checks of a single one, and returns the record. sent means that
// it went out, and that what came of it cannot be read now.
func (h *rest) decideSingly(c echo.Context, given bulk.Decision, key string) (record contract.ApprovalResult, sent bool, err error) {
	ctx := c.Request().Context()
	if !contract.IsUUID(given.UUID) {
		return record, false, service.NoApproval(given.UUID)
	}
	raw, err := json.Marshal(map[string]any{"approved": *given.Approved, "reason": given.Reason, "by": given.By})
	if err != nil {
		return record, false, err
	}
	d, err := h.readDecision(c, given.UUID, raw)
	if err != nil {
		return record, false, err
	}
	if given.Digest != "" {
		view, err := h.service.Approval(ctx, given.UUID)
		if err != nil {
			return record, false, err
		}
		if view.Pending.Digest != given.Digest {
			return record, false, service.Errorf(contract.KindDigest, "tool_args_sha256: the approval is about other arguments; look at it again")
		}
	}
	d.Signal.RequestID = requestID(c, given.UUID, key)
	receipt, err := h.service.Decide(ctx, callerOf(c), d)
	if err != nil {
		return record, false, err
	}
	record, err = h.service.DecisionRecord(ctx, receipt)
	switch record = record.Public(); {
	case err != nil:
		return record, true, err
	case record.RequestID != d.Signal.RequestID:
		return record, false, &service.Refusal{Cause: service.Errorf(contract.KindDecided, "%s", service.AlreadyDecided(record)), Decision: &record}
	case !record.Agrees(d.Signal):
		return record, false, service.KeyReused()
	}
	return record, false, nil
}
