package endpoint

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/agui"
	"agent-stop-and-go/gateway/live"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/turn"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

const headerReplayed = "Idempotency-Replayed"

// Start starts a conversation whose first turn will be streamed.
func (ep *Endpoint) Start(ctx context.Context, caller service.Caller, in service.NewConversation) (service.StartedConversation, error) {
	return ep.followers.Start(ctx, ep.service, caller, in)
}

// StreamFirst streams the turn of a conversation's first message, with which Start has started it.
// status is that of the reply.
func (ep *Endpoint) StreamFirst(c echo.Context, q service.Request, status int) error {
	r, err := ep.join(c, q.ConversationID, true)
	if err != nil {
		return err
	}
	defer ep.followers.Leave(r)
	return ep.streamTurn(c, r, &turn.Turn{Request: q, First: true}, status)
}

// StreamMessage sends a message and streams its turn. It joins the readers before it sends,
// to see whether the message will answer a question.
func (ep *Endpoint) StreamMessage(c echo.Context, q service.Request, m service.Message) error {
	r, err := ep.followers.Join(c.Request().Context(), q.ConversationID, true)
	if err != nil {
		return closingError(err)
	}
	defer ep.followers.Leave(r)
	t, err := ep.turnBefore(c, r, q)
	if err != nil {
		return closingError(err)
	}
	t.Message = m.ClientID
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
	r.ExpectChange()
	return ep.streamTurn(c, r, t, http.StatusOK)
}

// turnBefore returns the turn of a request that is about to be sent. It waits for a state
// that is as new as the conversation, because the reader's first one may be older.
func (ep *Endpoint) turnBefore(c echo.Context, r *live.Reader, q service.Request) (*turn.Turn, error) {
	view, err := ep.readSameRequest(c, q)
	if err != nil {
		return nil, err
	}
	t := &turn.Turn{Request: q, Latest: view}
	return t, r.Await(c.Request().Context(), ep.service.Closing(), func(now *record.State) bool {
		if t.Stale(*now) {
			r.RequestRead()
			return false
		}
		t.Before, t.Approvals = *now, questionIn(now)
		return true
	})
}

// readSameRequest reads the conversation. It fails if the request's key was used for another
// request.
func (ep *Endpoint) readSameRequest(c echo.Context, q service.Request) (contract.ConversationView, error) {
	view, err := ep.service.Conversation(c.Request().Context(), q.ConversationID, q.ID)
	if err == nil && view.Request != nil && view.Request.Fingerprint != "" && view.Request.Fingerprint != q.Fingerprint {
		return view, service.KeyReused()
	}
	return view, err
}

// questionIn returns the question that the next message answers.
func questionIn(s *record.State) []string {
	for _, p := range s.Document.PendingApprovals {
		if p.Question() {
			return []string{p.UUID}
		}
	}
	return nil
}

// streamCompleted streams the result of a request in a conversation that has been completed
// since.
func (ep *Endpoint) streamCompleted(c echo.Context, r *live.Reader, t *turn.Turn) error {
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

// streamTurn streams a turn to its end. Until the turn begins, errors are ordinary replies.
func (ep *Endpoint) streamTurn(c echo.Context, r *live.Reader, t *turn.Turn, status int) error {
	client, cancel := context.WithCancel(callOf(c).Client)
	defer cancel()
	f := &follower{
		endpoint: ep, reader: r, out: ep.newWriter(c, status, nil), turn: t, onlyTurn: true, answer: ep.service.AwaitAsync(client, t.Request),
		stream: agui.New(agui.Options{ThreadID: t.ConversationID}),
	}
	return f.run(client)
}
