package gateway

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/document"
	"agent-stop-and-go/workflows/record/transcript"
)

// sendTimeout bounds the sending of a signal or a start. It does not end when
// the client goes away: half a request is worse than one that nobody reads.
const sendTimeout = 15 * time.Second

func sending(c echo.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(c.Request().Context()), sendTimeout)
}

// result is the "result" of the API.
type result struct {
	Response        string                    `json:"response"`
	WaitingApproval bool                      `json:"waiting_approval"`
	Approval        *contract.PendingApproval `json:"approval,omitempty"`
	AuthRequired    bool                      `json:"auth_required"`
}

// turnReply is what a request that changes a conversation answers.
type turnReply struct {
	Conversation document.Conversation `json:"conversation"`
	Result       *result               `json:"result,omitempty"`
	// Problem says what of the reply cannot be read, although the request was carried out.
	Problem string `json:"problem,omitempty"`
}

// accepted is the body of a 202.
type accepted struct {
	RequestID      string `json:"request_id"`
	ConversationID string `json:"conversation_id,omitempty"`
	Status         string `json:"status"`
	// Decision is what was decided, and Problem why no more can be told now.
	Decision *contract.ApprovalResult `json:"decision,omitempty"`
	Problem  string                   `json:"problem,omitempty"`
}

// States of an accepted request.
const (
	statusRunning = "running"
	statusSettled = "settled"
	statusRefused = "refused"
)

// ticket is a request that has been accepted and whose answer is to be had.
type ticket struct {
	conversationID string
	requestID      string
	keyed          bool   // by the caller, who may send it again
	fingerprint    string // empty when there is nothing to compare
	status         int    // of the reply, when all is well
	location       string // of the answer, when it is not there in time
	endIsFine      bool   // a completed conversation is what was asked for
	repeated       bool   // the request was sent before
	// decision has been recorded: a failure to read on must not hide it.
	decision *contract.ApprovalResult
}

// settle answers with what the request has settled to, or with a 202. That of a
// request which was sent before is read first: waiting for it writes history.
func (g *Gateway) settle(c echo.Context, t ticket) error {
	if t.repeated {
		s, err := g.remembered(c.Request().Context(), t)
		if err != nil {
			return g.unread(c, t, err)
		}
		if s != nil {
			return g.settled(c, t, *s)
		}
	}
	if prefersAsync(c) {
		c.Response().Header().Set("Preference-Applied", "respond-async")
		return acceptedReply(c, t)
	}
	s, err := g.waits.wait(c.Request().Context(), t.conversationID, t.requestID)
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, service.ErrClosing) {
		return acceptedReply(c, t)
	}
	if err != nil {
		return g.unread(c, t, err)
	}
	return g.settled(c, t, s)
}

// unread answers when what a request came to cannot be read: with the decision, if one
// was recorded, since its call may have run.
func (g *Gateway) unread(c echo.Context, t ticket, err error) error {
	if t.decision == nil || c.Request().Context().Err() != nil {
		return err
	}
	g.Logger.Error("what came of a decision cannot be read now", "approval", t.decision.UUID, "conversation", t.conversationID, "error", err)
	return acceptedAs(c, t, "the decision was taken, and what it approved may have run; what came of it cannot be read now: "+problemOf(err))
}

// await is Backend.Await. It keeps in mind which conversations are idle.
func (g *Gateway) await(ctx context.Context, id string, requestIDs []string) (contract.AwaitResult, error) {
	result, err := g.Backend.Await(ctx, id, requestIDs)
	if err == nil {
		g.idle.observe(result.Conversation)
	}
	return result, err
}

// remembered is what a request settled to, or nil.
func (g *Gateway) remembered(ctx context.Context, t ticket) (*settlement, error) {
	view, err := g.Backend.Conversation(ctx, t.conversationID, t.requestID)
	if err != nil || view.Request == nil || !view.Request.Settled {
		return nil, unlessUnavailable(err)
	}
	return &settlement{request: *view.Request, view: view}, nil
}

// unlessUnavailable drops the error of a read that no worker has answered.
func unlessUnavailable(err error) error {
	if service.IsKind(err, service.KindUnavailable) {
		return nil
	}
	return err
}

func acceptedReply(c echo.Context, t ticket) error { return acceptedAs(c, t, "") }

func acceptedAs(c echo.Context, t ticket, problem string) error {
	location := t.location
	if location == "" {
		location = requestPath(t.conversationID, t.requestID)
	}
	c.Response().Header().Set("Location", location)
	c.Response().Header().Set("Retry-After", "1")
	return c.JSON(http.StatusAccepted, accepted{t.requestID, t.conversationID, statusRunning, t.decision, problem})
}

func requestPath(conversationID, requestID string) string {
	return "/conversations/" + conversationID + "/requests/" + requestID
}

func (g *Gateway) settled(c echo.Context, t ticket, s settlement) error {
	reply, err := g.reply(c.Request().Context(), t, s)
	if err != nil {
		return err
	}
	return c.JSON(t.status, reply)
}

// reply is what a request has settled to; a refusal is an error. It has been carried out,
// so what of it cannot be read is a problem in the reply, and no error.
func (g *Gateway) reply(ctx context.Context, t ticket, s settlement) (turnReply, error) {
	if t.fingerprint != "" && s.request.Fingerprint != "" && t.fingerprint != s.request.Fingerprint {
		return turnReply{}, keyReused()
	}
	conversation, lost := document.Render(ctx, g.Blobs, s.view)
	res, unread := g.result(ctx, s.request.Result)
	if ctx.Err() != nil {
		return turnReply{}, ctx.Err()
	}
	problem := ""
	if err := errors.Join(lost, unread); err != nil {
		g.Logger.Error("a part of a reply cannot be read", "conversation", t.conversationID, "error", err)
		problem = "the request was carried out, but " + problemOf(err)
	}
	if refused := s.request.Refused; refused != "" && !(t.endIsFine && refused == contract.KindCompleted) {
		return turnReply{}, refusal(refused, conversation, res)
	}
	return turnReply{conversation, res, problem}, nil
}

func refusal(kind contract.Kind, conversation document.Conversation, res *result) error {
	return &detailed{
		failure: &service.Error{Kind: kind, Text: refusalText(kind, res)},
		with:    details{Conversation: &conversation, Result: res},
	}
}

func refusalText(kind contract.Kind, res *result) string {
	response := ""
	if res != nil {
		response = ": " + res.Response
	}
	switch kind {
	case contract.KindBusy:
		return "too many requests" + response
	case contract.KindTooLarge:
		return "the request is too large" + response
	case contract.KindInvalid: // a message that is no answer to the question that waited
		return "invalid answer" + response
	case contract.KindDecided:
		return "The question has an answer already."
	case contract.KindWaiting:
		return "Conversation is waiting for approval. Please respond to the pending approval first."
	}
	return "Conversation is completed."
}

// result is what could be read of a result, with an error for what could not. It is nil
// for an answer that is no longer remembered: the conversation
// itself still has it.
func (g *Gateway) result(ctx context.Context, r *contract.Result) (*result, error) {
	if r == nil {
		return nil, nil
	}
	out := &result{WaitingApproval: r.WaitingApproval, AuthRequired: r.AuthRequired}
	var err error
	if out.Response, err = transcript.ReadText(ctx, g.Blobs, r.Response); err != nil {
		out.Response = document.Lost
	}
	if r.Approval == nil {
		return out, err
	}
	pending, failed := document.Pending(ctx, g.Blobs, *r.Approval)
	if failed == nil {
		out.Approval = &pending
	}
	return out, errors.Join(err, failed)
}

// ended answers a request to a conversation that has completed. One that was
// carried out before that gets its first answer.
func (g *Gateway) ended(c echo.Context, t ticket) error {
	view, err := g.Backend.Conversation(c.Request().Context(), t.conversationID, t.requestID)
	if err != nil {
		return err
	}
	s := settlement{view: view, request: contract.Request{Refused: contract.KindCompleted}}
	if view.Request != nil && view.Request.Settled {
		s.request = *view.Request
	}
	return g.endedAs(c, t, s)
}

// endedAs answers a request to a conversation that has completed with what is known.
func (g *Gateway) endedAs(c echo.Context, t ticket, s settlement) error {
	if s.request.Settled && !s.request.Foreseen {
		c.Response().Header().Set(headerReplayed, "true")
	}
	if s.request.Refused != "" && t.endIsFine && s.request.Result == nil {
		s.request.Result = &contract.Result{}
	}
	return g.settled(c, t, s)
}
