package gateway

import (
	"context"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record/document"
	"agent-stop-and-go/workflows/record/transcript"
)

type messageBody struct {
	Message string `json:"message"`
}

func (m messageBody) blank() bool { return strings.TrimSpace(m.Message) == "" }

// create starts a conversation, with a first message or without.
func (g *Gateway) create(c echo.Context) error {
	var body messageBody
	raw, err := bind(c, &body)
	if err != nil {
		return err
	}
	if body.Message != "" && body.blank() {
		return service.Errorf(contract.KindInvalid, "message is blank; leave it out to start a conversation without one")
	}
	key, err := idempotencyKey(c)
	if err != nil {
		return err
	}
	id := conversationID(c, key)
	c.Set(keyConversation, id)
	t := ticket{
		conversationID: id, requestID: requestID(c, id, key),
		fingerprint: fingerprint(c.Request(), raw), status: http.StatusCreated,
	}
	if t.repeated, err = g.start(c, t, body); err != nil {
		return err
	}
	c.Response().Header().Set("Location", "/conversations/"+id)
	if body.Message == "" {
		return g.created(c, t)
	}
	if streams(c) {
		return g.streamFirst(c, t)
	}
	return g.settle(c, t)
}

// start starts the conversation, and reports whether it was there before.
func (g *Gateway) start(c echo.Context, t ticket, body messageBody) (existed bool, err error) {
	ctx, cancel := sending(c)
	defer cancel()
	in := service.StartInput{
		Conversation: contract.ConversationInput{ID: t.conversationID, SessionID: sessionOf(c), Agent: g.Agent},
		Fingerprint:  t.fingerprint,
		CreatedAt:    g.Now(),
	}
	if body.Message != "" {
		first, blobs, err := g.signalMessage(ctx, c, t, body)
		if err != nil {
			return false, err
		}
		in.Conversation.First, in.Keep = &first, blobs.keeper()
	}
	started, err := g.Backend.Start(ctx, in)
	switch {
	case err != nil:
		return false, err
	case !started.Existed:
		return false, nil
	case started.Fingerprint != t.fingerprint:
		return true, keyReused()
	}
	c.Response().Header().Set(headerReplayed, "true")
	return true, nil
}

func (g *Gateway) signalMessage(ctx context.Context, c echo.Context, t ticket, body messageBody) (contract.MessageSignal, *staged, error) {
	blobs := g.stage()
	text, err := transcript.Text(ctx, blobs, body.Message)
	if err != nil {
		return contract.MessageSignal{}, nil, err
	}
	sealed, err := g.seal(c, t.conversationID)
	in := contract.MessageSignal{RequestID: t.requestID, Fingerprint: t.fingerprint, Text: text, Credential: sealed}
	if streams(c) {
		in.Name = t.requestID // by which its turn is found
	}
	return in, blobs, err
}

// created answers with a conversation that nobody has written to yet.
func (g *Gateway) created(c echo.Context, t ticket) error {
	view, err := g.Backend.Conversation(c.Request().Context(), t.conversationID, "")
	if service.IsKind(err, service.KindUnavailable) { // it is there, only nobody can show it yet
		t.location = "/conversations/" + t.conversationID
		return acceptedReply(c, t)
	}
	if err != nil {
		return err
	}
	g.idle.observe(view)
	conversation, err := document.Render(c.Request().Context(), g.Blobs, view)
	if err != nil {
		return err
	}
	return c.JSON(t.status, turnReply{Conversation: conversation})
}
