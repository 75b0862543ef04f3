package gateway

import (
	"context"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/agui"
	"agent-stop-and-go/gateway/live"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

// streams reports whether a message is answered with the events of its turn.
func streams(c echo.Context) bool { return wantsEvents(c) && !prefersAsync(c) }

// streamFirst streams the turn of the first message of a conversation.
func (g *Gateway) streamFirst(c echo.Context, t ticket) error {
	r, err := g.follow(c, t.conversationID, true)
	if err != nil {
		return err
	}
	defer g.followers.Leave(r)
	return g.streamTurn(c, r, &turn{ticket: t, first: true})
}

// streamMessage sends a message and streams its turn. The reader is there before the
// message, and sees whether it will be the answer to a question.
func (g *Gateway) streamMessage(c echo.Context, t ticket, in contract.MessageSignal, blobs *staged) error {
	r, err := g.followers.Join(t.conversationID, true)
	if err != nil {
		return closing(err)
	}
	defer g.followers.Leave(r)
	s, err := g.before(c, r, t)
	if err != nil {
		return closing(err)
	}
	s.message = in.Name
	ctx, cancel := sending(c)
	defer cancel()
	known, err := g.deliverNew(ctx, t, contract.SignalMessage, in, blobs)
	switch {
	case service.IsKind(err, contract.KindCompleted), err == nil && known != nil && known.view.Status == contract.StatusCompleted:
		return g.streamEnded(c, r, s)
	case err != nil:
		return err
	case known != nil && known.request.Refused != "":
		return g.settled(c, t, *known)
	}
	r.RequestRead()
	return g.streamTurn(c, r, s)
}

// before is a turn that may begin now. What the reader is told first may be older than
// the conversation is.
func (g *Gateway) before(c echo.Context, r *live.Reader, t ticket) (*turn, error) {
	view, err := g.sameRequest(c, t)
	if err != nil {
		return nil, err
	}
	s := &turn{ticket: t, least: view}
	return s, r.Await(c.Request().Context(), g.base, func(now *record.State) bool {
		if s.early(*now) {
			r.RequestRead()
			return false
		}
		s.before, s.approvals = *now, questions(now)
		return true
	})
}

// sameRequest is the conversation as it is. It keeps the events of another request from
// those who use its key.
func (g *Gateway) sameRequest(c echo.Context, t ticket) (contract.ConversationView, error) {
	view, err := g.Backend.Conversation(c.Request().Context(), t.conversationID, t.requestID)
	if err == nil && view.Request != nil && view.Request.Fingerprint != "" && view.Request.Fingerprint != t.fingerprint {
		return view, keyReused()
	}
	return view, err
}

// questions is the question that the next message is the answer to.
func questions(s *record.State) []string {
	for _, p := range s.Document.PendingApprovals {
		if p.Question() {
			return []string{p.UUID}
		}
	}
	return nil
}

// streamEnded streams what a request came to in a conversation that has completed
// since.
func (g *Gateway) streamEnded(c echo.Context, r *live.Reader, s *turn) error {
	view, err := g.Backend.Conversation(c.Request().Context(), s.conversationID, s.requestID)
	if err != nil {
		return err
	}
	if view.Request == nil || !view.Request.Settled {
		return g.ended(c, s.ticket)
	}
	c.Response().Header().Set(headerReplayed, "true")
	return g.streamTurn(c, r, s)
}

// streamTurn streams a turn to its end. Until it has begun, errors are replies like
// any other.
func (g *Gateway) streamTurn(c echo.Context, r *live.Reader, s *turn) error {
	s.only = true
	client, cancel := context.WithCancel(clientOf(c))
	defer cancel()
	f := &follower{
		Gateway: g, reader: r, out: g.newSSE(c, s.status), turn: s, settled: g.settlement(client, s.ticket),
		stream: agui.New(agui.Options{ThreadID: s.conversationID}),
	}
	return f.run(client)
}

// settlement delivers what a request settles to while the client is there.
func (g *Gateway) settlement(client context.Context, t ticket) <-chan settlement {
	out := make(chan settlement, 1)
	go func() {
		s, err := g.waits.wait(client, t.conversationID, t.requestID)
		s.err = err
		out <- s
	}()
	return out
}
