package gateway

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

type messageBody struct {
	Message string `json:"message"`
}

func (m messageBody) blank() bool { return strings.TrimSpace(m.Message) == "" }

// message returns the message in a body. For a streamed request it has the request ID as
// client ID, by which its turn is found.
func (m messageBody) message(c echo.Context, requestID string) service.Message {
	out := service.Message{Text: m.Message}
	if streams(c) {
		out.ClientID = requestID
	}
	return out
}

// streams reports whether the reply is a stream of the turn's events.
func streams(c echo.Context) bool {
	return request.WantsEvents(c.Request()) && !request.PrefersAsync(c.Request())
}

// create starts a conversation, with or without a first message.
func (h *rest) create(c echo.Context) error {
	var body messageBody
	raw, err := request.Bind(c.Request(), &body)
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
	whole, err := includesMessages(c)
	if err != nil {
		return err
	}
	id := callerOf(c).ConversationID(key)
	callOf(c).ConversationID = id
	p := pending{status: http.StatusCreated, Request: service.Request{
		ConversationID: id, ID: requestID(c, id, key), Repeatable: key != "", Fingerprint: fingerprintOf(c, raw), Whole: whole,
	}}
	if p.repeated, err = h.start(c, p, body); err != nil {
		return err
	}
	c.Response().Header().Set("Location", "/conversations/"+id)
	if body.Message == "" {
		return h.created(c, p)
	}
	if streams(c) {
		return h.events.StreamFirst(c, p.Request, p.status)
	}
	return h.await(c, p)
}

// start starts the conversation, and reports whether it existed before.
func (h *rest) start(c echo.Context, p pending, body messageBody) (existed bool, err error) {
	in := service.NewConversation{Request: p.Request}
	if body.Message != "" {
		first := body.message(c, p.ID)
		in.Message = &first
	}
	opened, err := h.service.Start(c.Request().Context(), callerOf(c), in)
	switch {
	case err != nil:
		return false, err
	case !opened.Existed:
		return false, nil
	case opened.Fingerprint != p.Fingerprint:
		return true, service.KeyReused()
	}
	c.Response().Header().Set(headerReplayed, "true")
	return true, nil
}

// created replies with a conversation without messages.
func (h *rest) created(c echo.Context, p pending) error {
	conversation, err := h.service.ReadNew(c.Request().Context(), p.ConversationID)
	if service.IsKind(err, service.KindUnavailable) { // it exists, but no worker can read it yet
		p.location = "/conversations/" + p.ConversationID
		return accept(c, p, "")
	}
	if err != nil {
		return err
	}
	return c.JSON(p.status, service.Reply{Conversation: conversation})
}
