package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/serverlogin"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/answer"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/edit"
)

// viaREST marks decisions that came through the REST API.
const viaREST = "rest"

// decide sends a decision and waits for its result. The first decision counts; later ones get
// a 409 with it.
func (h *rest) decide(c echo.Context) error {
	raw, err := readAnswer(c)
	if err != nil {
		return err
	}
	uuid, err := approvalParam(c)
	if err != nil {
		if _, wrong := answer.Parse(raw); wrong != nil {
			return invalidAnswer(wrong)
		}
		return err
	}
	d, err := h.readDecision(c, uuid, raw)
	if err != nil {
		return err
	}
	key, err := request.IdempotencyKey(c.Request())
	if err != nil {
		return err
	}
	d.Signal.RequestID = requestID(c, uuid, key)
	whole, err := includesMessages(c)
	if err != nil {
		return err
	}
	return h.sendDecision(c, d, whole)
}

// sendDecision sends a decision. After it was sent, the reply says so even if something
// fails.
func (h *rest) sendDecision(c echo.Context, d service.Decision, whole bool) error {
	ctx := c.Request().Context()
	receipt, err := h.service.Decide(ctx, callerOf(c), d)
	if err != nil {
		return err
	}
	p := pending{
		Request:  service.Request{ID: d.Signal.RequestID, MayBeCompleted: true, Whole: whole},
		location: approvalPath(d.UUID) + "?request_id=" + d.Signal.RequestID, status: http.StatusOK, repeated: receipt.Late,
	}
	record, err := h.service.DecisionRecord(ctx, receipt)
	record = record.Public()
	switch {
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, service.ErrClosing):
		return accept(c, p, "")
	case err != nil && (receipt.Late || ctx.Err() != nil):
		return err
	case err != nil:
		h.logger.Error("the record of a decision cannot be read now", "approval", d.UUID, "error", err)
		return accept(c, p, "the decision was sent; whether it was taken, and what came of it, cannot be read now: "+service.Problem(err))
	}
	callOf(c).ConversationID = record.ConversationID
	if record.RequestID != d.Signal.RequestID {
		return h.service.TooLate(ctx, record)
	}
	if !record.Agrees(d.Signal) {
		return service.KeyReused()
	}
	if receipt.Late {
		c.Response().Header().Set(headerReplayed, "true")
	}
	p.ConversationID, p.decision = record.ConversationID, &record
	p.location = requestPath(record.ConversationID, p.ID) + "?approval=" + d.UUID
	if err := h.service.See(ctx, record.ConversationID); service.IsKind(err, contract.KindNotFound) {
		p.location = approvalPath(d.UUID) + "?request_id=" + p.ID // that is all the caller may see
		return accept(c, p, "")
	}
	return h.await(c, p)
}

// loggedIn lets a call go on whose person has logged in, with the token of the request if that is
// what it waits for.
func (h *rest) loggedIn(c echo.Context) error {
	if _, err := request.Bind(c.Request(), &struct{}{}); err != nil {
		return err
	}
	if err := h.server.May(c); err != nil {
		return err
	}
	p, err := h.server.Waiting(c)
	if err == nil {
		err = h.server.Ready(c, p)
	}
	if err != nil {
		return err
	}
	key, err := request.IdempotencyKey(c.Request())
	if err != nil {
		return err
	}
	whole, err := includesMessages(c)
	if err != nil {
		return err
	}
	d := service.Decision{UUID: p.UUID, Signal: serverlogin.Done()}
	d.Signal.RequestID = requestID(c, p.UUID, key)
	return h.sendDecision(c, d, whole)
}

func readAnswer(c echo.Context) (json.RawMessage, error) {
	raw, err := request.Body(c.Request())
	if err != nil {
		return nil, err
	}
	var syntax json.RawMessage // distinguishes malformed JSON from an answer of the wrong form
	return raw, request.Decode(raw, &syntax)
}

// answerMembers are the members of an answer to an approval or a question.
var answerMembers = []string{"approved", "answer", "action", "content", "reason", "by", "edit", "always"}

// readDecision reads an approval or rejection, or the answer to a question.
func (h *rest) readDecision(c echo.Context, uuid string, raw json.RawMessage) (service.Decision, error) {
	subject, err := h.service.Subject(c.Request().Context(), uuid)
	if err != nil {
		return service.Decision{}, err
	}
	given, err := readReply(raw, subject)
	if err != nil {
		return service.Decision{}, invalidAnswer(err)
	}
	if err := h.checkEdit(c, uuid, given.Answer); err != nil {
		return service.Decision{}, err
	}
	note, err := callerOf(c).Note(service.Note{Reason: given.Reason, By: given.By})
	return service.Decision{UUID: uuid, Subject: &subject, Signal: contract.DecideSignal{
		Approved: given.Approved, By: note.By, OnBehalfOf: note.OnBehalfOf, Reason: note.Reason, Via: viaREST, Content: contract.JSON{Raw: given.Content}, Edit: given.Edit, Always: given.Always,
	}}, err
}

// checkEdit refuses changes of arguments that the approval does not take.
func (h *rest) checkEdit(c echo.Context, uuid string, given answer.Answer) error {
	if len(given.Edit) == 0 {
		return nil
	}
	if !given.Approved {
		return service.Errorf(contract.KindInvalid, "edit: changes come with a yes")
	}
	view, err := h.service.Approval(c.Request().Context(), uuid)
	if err != nil || view.Result != nil { // deciding says who has decided
		return err
	}
	if err := edit.Check(given.Edit, view.Pending.Edit); err != nil {
		return &service.Error{Kind: contract.KindInvalid, Text: err.Error()}
	}
	return nil
}

func readReply(raw json.RawMessage, s service.Subject) (given answer.Reply, err error) {
	unknown := request.CheckMembers(raw, answerMembers)
	switch {
	case s.Question && unknown != nil:
		return given, unknown
	case s.Question:
		return answer.ParseQuestion(raw, s.Schema)
	case unknown != nil:
		return given, fmt.Errorf("%w; %s", unknown, answer.Accepted)
	}
	given.Answer, err = answer.Parse(raw)
	return given, err
}

func invalidAnswer(err error) *service.Error {
	return &service.Error{Kind: contract.KindInvalid, Text: "invalid answer: " + err.Error()}
}
