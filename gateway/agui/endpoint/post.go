package endpoint

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/agui"
	"agent-stop-and-go/gateway/live"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

const headerReplayed = "Idempotency-Replayed"

// StreamFirst streams the turn of the first message of a conversation, which has been sent
// by a request. The reply has a status.
func (ep *Endpoint) StreamFirst(c echo.Context, q service.Request, status int) error {
	r, err := ep.join(c, q.ConversationID, true)
	if err != nil {
		return err
	}
	defer ep.followers.Leave(r)
	return ep.streamTurn(c, r, &turn{Request: q, first: true}, status)
}

// StreamMessage sends a message and streams its turn. The reader is there before the
// message, and sees whether it will be the answer to a question.
func (ep *Endpoint) StreamMessage(c echo.Context, q service.Request, m service.Message) error {
	r, err := ep.followers.Join(q.ConversationID, true)
	if err != nil {
		return unlessClosing(err)
	}
	defer ep.followers.Leave(r)
	t, err := ep.turnBefore(c, r, q)
	if err != nil {
		return unlessClosing(err)
	}
	t.message = m.ClientID
	ctx := c.Request().Context()
	known, err := ep.service.Send(ctx, callOf(c).Caller, q, m)
	switch {
	case service.IsKind(err, contract.KindCompleted), err == nil && known != nil && known.View.Status == contract.StatusCompleted:
		return ep.streamCompleted(c, r, t)
	case err != nil:
		return err
	case known != nil && known.Outcome.Refused != "":
		_, err := ep.service.Reply(ctx, q, *known)
		return err
	case known != nil:
		c.Response().Header().Set(headerReplayed, "true")
	}
	r.RequestRead()
	return ep.streamTurn(c, r, t, http.StatusOK)
}

// turnBefore is a turn that may begin now. What the reader gets first may be older than
// the conversation is.
func (ep *Endpoint) turnBefore(c echo.Context, r *live.Reader, q service.Request) (*turn, error) {
	view, err := ep.readSameRequest(c, q)
	if err != nil {
		return nil, err
	}
	t := &turn{Request: q, least: view}
	return t, r.Await(c.Request().Context(), ep.service.Closing(), func(now *record.State) bool {
		if t.early(*now) {
			r.RequestRead()
			return false
		}
		t.before, t.approvals = *now, questionIn(now)
		return true
	})
}

// readSameRequest reads the conversation. It keeps the events of another request from those
// who use its key.
func (ep *Endpoint) readSameRequest(c echo.Context, q service.Request) (contract.ConversationView, error) {
	view, err := ep.service.Conversation(c.Request().Context(), q.ConversationID, q.ID)
	if err == nil && view.Request != nil && view.Request.Fingerprint != "" && view.Request.Fingerprint != q.Fingerprint {
		return view, service.KeyReused()
	}
	return view, err
}

// questionIn is the question that the next message is the answer to.
func questionIn(s *record.State) []string {
	for _, p := range s.Document.PendingApprovals {
		if p.Question() {
			return []string{p.UUID}
		}
	}
	return nil
}

// streamCompleted streams what a request came to in a conversation that has completed
// since.
func (ep *Endpoint) streamCompleted(c echo.Context, r *live.Reader, t *turn) error {
	s, err := ep.service.Completed(c.Request().Context(), t.Request)
	if err != nil {
		return err
	}
	if !s.Outcome.Settled {
		_, err := ep.service.Reply(c.Request().Context(), t.Request, s)
		return err
	}
	c.Response().Header().Set(headerReplayed, "true")
	return ep.streamTurn(c, r, t, http.StatusOK)
}

// streamTurn streams a turn to its end. Until it has begun, errors are replies like
// any other.
func (ep *Endpoint) streamTurn(c echo.Context, r *live.Reader, t *turn, status int) error {
	t.alone = true
	client, cancel := context.WithCancel(callOf(c).Client)
	defer cancel()
	f := &follower{
		endpoint: ep, reader: r, out: ep.newWriter(c, status, nil), turn: t, answer: ep.service.AwaitAside(client, t.Request),
		stream: agui.New(agui.Options{ThreadID: t.ConversationID}),
	}
	return f.run(client)
}
