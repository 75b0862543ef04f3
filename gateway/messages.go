package gateway

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// conversationParam returns the conversation's ID from the path.
func conversationParam(c echo.Context) (string, error) {
	id := c.Param("id")
	if !contract.IsUUID(id) {
		return "", service.NoConversation(id)
	}
	c.Set(keyConversation, id)
	return id, nil
}

// message sends a message to a conversation.
func (g *Gateway) message(c echo.Context) error {
	var body messageBody
	raw, err := bind(c, &body)
	if err != nil {
		return err
	}
	if body.blank() {
		return service.Errorf(contract.KindInvalid, "message is required")
	}
	t, err := newTicket(c)
	if err != nil {
		return err
	}
	t.fingerprint = fingerprint(c.Request(), raw)
	ctx, cancel := sending(c)
	defer cancel()
	in, blobs, err := g.signalMessage(ctx, c, t, body)
	if err != nil {
		return err
	}
	if streams(c) {
		return g.streamMessage(c, t, in, blobs)
	}
	return g.signal(c, t, contract.SignalMessage, in, blobs)
}

// newTicket identifies a request to the conversation in the path.
func newTicket(c echo.Context) (ticket, error) {
	id, err := conversationParam(c)
	if err != nil {
		return ticket{}, err
	}
	key, err := idempotencyKey(c)
	if err != nil {
		return ticket{}, err
	}
	return ticket{conversationID: id, requestID: requestID(c, id, key), keyed: key != "", status: http.StatusOK}, nil
}

// signal sends and waits for the answer, unless it is known already.
func (g *Gateway) signal(c echo.Context, t ticket, name string, payload any, blobs *staged) error {
	ctx, cancel := sending(c)
	defer cancel()
	known, err := g.deliverNew(ctx, t, name, payload, blobs)
	switch {
	case service.IsKind(err, contract.KindCompleted):
		return g.ended(c, t)
	case err != nil:
		return err
	case known != nil && known.view.Status == contract.StatusCompleted:
		return g.endedAs(c, t, *known)
	case known != nil:
		return g.settled(c, t, *known)
	}
	return g.settle(c, t)
}

// reasonBody is the optional body of cancel and close.
type reasonBody struct {
	Reason string `json:"reason"`
	By     string `json:"by"`
}

const (
	maxReason = 2000
	maxBy     = 200
)

// check keeps what people write about a decision out of history when it is long.
func (b *reasonBody) check(c echo.Context) error {
	if b.By == "" {
		b.By = c.Request().Header.Get("X-User")
	}
	if len(b.Reason) > maxReason || len(b.By) > maxBy {
		return service.Errorf(contract.KindInvalid, "reason may have %d bytes and by %d", maxReason, maxBy)
	}
	return nil
}

func (g *Gateway) reasoned(c echo.Context) (reasonBody, ticket, error) {
	var body reasonBody
	if _, err := bind(c, &body); err != nil {
		return body, ticket{}, err
	}
	if err := body.check(c); err != nil {
		return body, ticket{}, err
	}
	t, err := newTicket(c)
	return body, t, err
}

// cancelTurn stops the running turn.
func (g *Gateway) cancelTurn(c echo.Context) error {
	body, t, err := g.reasoned(c)
	if err != nil {
		return err
	}
	return g.signal(c, t, contract.SignalCancel,
		contract.CancelSignal{RequestID: t.requestID, Reason: body.Reason, By: body.By}, nil)
}

// closeConversation ends a conversation. Ending it again is fine.
func (g *Gateway) closeConversation(c echo.Context) error {
	body, t, err := g.reasoned(c)
	if err != nil {
		return err
	}
	t.endIsFine = true
	return g.signal(c, t, contract.SignalClose,
		contract.CloseSignal{RequestID: t.requestID, Reason: body.Reason, By: body.By}, nil)
}
