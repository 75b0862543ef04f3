package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/answer"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/document"
)

// viaREST marks decisions that came through this API.
const viaREST = "rest"

// decide answers an approval and waits for what comes of it. The first decision
// wins; others get it as a 409.
func (g *Gateway) decide(c echo.Context) error {
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
	in, err := g.readDecision(c, uuid, raw)
	if err != nil {
		return err
	}
	key, err := idempotencyKey(c)
	if err != nil {
		return err
	}
	in.RequestID = requestID(c, uuid, key)
	return g.decideAs(c, uuid, in)
}

// decideAs sends a decision. Once it is sent, no failure hides that.
func (g *Gateway) decideAs(c echo.Context, uuid string, in contract.DecideSignal) error {
	late, err := g.sendDecision(c, uuid, in)
	if err != nil {
		return err
	}
	sent := ticket{requestID: in.RequestID, location: approvalPath(uuid) + "?request_id=" + in.RequestID}
	record, err := g.decision(c, uuid)
	switch {
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, service.ErrClosing):
		return acceptedReply(c, sent)
	case err != nil && (late || c.Request().Context().Err() != nil):
		return err
	case err != nil:
		g.Logger.Error("the record of a decision cannot be read now", "approval", uuid, "error", err)
		return acceptedAs(c, sent, "the decision was sent; whether it was taken, and what came of it, cannot be read now: "+problemOf(err))
	}
	c.Set(keyConversation, record.ConversationID)
	if record.RequestID != in.RequestID {
		return g.decided(c, record)
	}
	if !record.Agrees(in) {
		return keyReused()
	}
	if late {
		c.Response().Header().Set(headerReplayed, "true")
	}
	return g.settle(c, ticket{
		conversationID: record.ConversationID, requestID: in.RequestID, status: http.StatusOK, endIsFine: true, repeated: late, decision: &record,
		location: requestPath(record.ConversationID, in.RequestID) + "?approval=" + uuid,
	})
}

func readAnswer(c echo.Context) (json.RawMessage, error) {
	raw, err := readBody(c)
	if err != nil {
		return nil, err
	}
	var syntax json.RawMessage // malformed JSON is told from an answer of the wrong shape
	return raw, decode(raw, &syntax)
}

// answerMembers are those of an answer, to an approval or to a question.
var answerMembers = []string{"approved", "answer", "action", "content", "reason", "by"}

// readDecision reads what the approval takes: a yes or a no, or the answer to a
// question.
func (g *Gateway) readDecision(c echo.Context, uuid string, raw json.RawMessage) (contract.DecideSignal, error) {
	ctx, cancel := sending(c)
	defer cancel()
	subject, err := g.Backend.Subject(ctx, uuid)
	if err != nil {
		return contract.DecideSignal{}, err
	}
	given, err := readReply(raw, subject)
	if err != nil {
		return contract.DecideSignal{}, invalidAnswer(err)
	}
	about := reasonBody{Reason: given.Reason, By: given.By}
	if err := about.check(c); err != nil {
		return contract.DecideSignal{}, err
	}
	in := contract.DecideSignal{
		Approved: given.Approved, By: about.By, Reason: about.Reason, Via: viaREST, Content: contract.JSON{Raw: given.Content},
	}
	in.Credential, err = g.sealFor(c, subject)
	return in, err
}

// sealFor is seal for a decision: the token is kept only if it may be used.
func (g *Gateway) sealFor(c echo.Context, s service.Subject) (string, error) {
	if s.CallAs == contract.CallAsRequester {
		return "", nil
	}
	return g.seal(c, s.ConversationID)
}

// sealDecision is sealFor for an approval of a conversation that is known.
func (g *Gateway) sealDecision(c echo.Context, uuid string) (string, error) {
	if bearer(c) == "" {
		return "", nil
	}
	ctx, cancel := sending(c)
	defer cancel()
	subject, err := g.Backend.Subject(ctx, uuid)
	if err != nil {
		return "", err
	}
	return g.sealFor(c, subject)
}

func readReply(raw json.RawMessage, s service.Subject) (given answer.Reply, err error) {
	unknown := checkMembers(raw, answerMembers)
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

// sendDecision sends the decision. That it came too late is no error: the record
// tells whose came in time, and it may be an earlier attempt of this request.
func (g *Gateway) sendDecision(c echo.Context, uuid string, in contract.DecideSignal) (late bool, err error) {
	ctx, cancel := sending(c)
	defer cancel()
	err = g.Backend.Decide(ctx, uuid, in)
	if service.IsKind(err, contract.KindDecided) {
		return true, nil
	}
	return false, err
}

// decision waits for the record, without what is nobody's business.
func (g *Gateway) decision(c echo.Context, uuid string) (contract.ApprovalResult, error) {
	record, err := g.decisionRecord(c, uuid)
	record.Credential, record.Content = "", contract.JSON{}
	return record, err
}

// decisionRecord waits for the record.
func (g *Gateway) decisionRecord(c echo.Context, uuid string) (contract.ApprovalResult, error) {
	ctx, cancel := context.WithCancelCause(c.Request().Context())
	defer cancel(nil)
	defer context.AfterFunc(g.base, func() { cancel(service.ErrClosing) })()
	record, err := g.Backend.Decision(ctx, uuid)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return record, err
}

func alreadyDecided(record contract.ApprovalResult) string {
	text := fmt.Sprintf("approval %s was already %s", record.UUID, record.Decision)
	if record.By != "" {
		text += " by " + service.Printable(record.By)
	}
	return text
}

// decided is the 409 of a decision that came too late.
func (g *Gateway) decided(c echo.Context, record contract.ApprovalResult) error {
	e := &detailed{failure: &service.Error{Kind: contract.KindDecided, Text: alreadyDecided(record)}}
	e.with.Decision = &record
	ctx := c.Request().Context()
	view, err := g.Backend.Conversation(ctx, record.ConversationID, "")
	if err != nil { // the record is what matters
		e.Err = err
		return e
	}
	conversation, err := document.Render(ctx, g.Blobs, view)
	if err != nil {
		e.Err = err
		return e
	}
	e.with.Conversation = &conversation
	return e
}
