package gateway

import (
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/command"
	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/service/shortid"
	"agent-stop-and-go/workflows/contract"
)

// resolve replaces the short ID of a conversation in the path by the full one.
func (g *Gateway) resolve(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		given := c.Param("id")
		if _, ok := shortid.Parse(given); !ok || contract.IsUUID(given) || !strings.HasPrefix(c.Path(), "/conversations/:id") {
			return next(c)
		}
		id, err := shortid.Resolve(c.Request().Context(), g.service, given)
		if err != nil {
			return err
		}
		values := slices.Clone(c.ParamValues())
		values[slices.Index(c.ParamNames(), "id")] = id
		c.SetParamValues(values...)
		return next(c)
	}
}

// conversationParam returns the conversation's ID from the path.
func conversationParam(c echo.Context) (string, error) {
	id := c.Param("id")
	if !contract.IsUUID(id) {
		return "", service.NoConversation(id)
	}
	callOf(c).ConversationID = id
	return id, nil
}

// message sends a message to a conversation.
func (h *rest) message(c echo.Context) error {
	var body messageBody
	raw, err := request.Bind(c.Request(), &body)
	if err != nil {
		return err
	}
	if body.blank() {
		return service.Errorf(contract.KindInvalid, "message is required")
	}
	if err := body.check(); err != nil {
		return err
	}
	p, err := newPending(c)
	if err != nil {
		return err
	}
	p.Fingerprint = fingerprintOf(c, raw)
	message, err := body.message(c, p.ID)
	if err != nil {
		return err
	}
	if streams(c) {
		return h.events.StreamMessage(c, p.Request, message)
	}
	known, err := h.service.Send(c.Request().Context(), callerOf(c), p.Request, message)
	return h.answerSent(c, p, known, err)
}

// commandBody is what a person has written in a chat.
type commandBody struct {
	Text           string   `json:"text"`
	ConversationID string   `json:"conversation_id"`
	Shown          []string `json:"shown"`
	By             string   `json:"by"`
}

// command carries out a command of a chat, or replies with the message that the text is.
func (h *rest) command(c echo.Context) error {
	var body commandBody
	if _, err := request.Bind(c.Request(), &body); err != nil {
		return err
	}
	if strings.TrimSpace(body.Text) == "" {
		return service.Errorf(contract.KindInvalid, "text is required")
	}
	key, err := request.IdempotencyKey(c.Request())
	if err != nil {
		return err
	}
	in := command.Input{Text: body.Text, Shown: body.Shown, By: body.By, Key: key}
	if body.ConversationID != "" {
		if in.ConversationID, err = shortid.Resolve(c.Request().Context(), h.service, body.ConversationID); err != nil {
			return err
		}
	}
	callOf(c).ConversationID = in.ConversationID
	reply, err := h.chats.Run(c.Request().Context(), callerOf(c), in)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, reply)
}

// newPending returns a request to the conversation in the path.
func newPending(c echo.Context) (pending, error) {
	id, err := conversationParam(c)
	if err != nil {
		return pending{}, err
	}
	key, err := request.IdempotencyKey(c.Request())
	if err != nil {
		return pending{}, err
	}
	whole, err := includesMessages(c)
	return pending{
		Request: service.Request{ConversationID: id, ID: requestID(c, id, key), Repeatable: key != "", Whole: whole}, status: http.StatusOK,
	}, err
}

// noteBody is the optional body of cancel and close.
type noteBody struct {
	Reason string `json:"reason"`
	By     string `json:"by"`
}

// readNote reads the body of cancel or close, and the request.
func readNote(c echo.Context) (service.Note, pending, error) {
	var body noteBody
	if _, err := request.Bind(c.Request(), &body); err != nil {
		return service.Note{}, pending{}, err
	}
	note, err := callerOf(c).Note(service.Note{Reason: body.Reason, By: body.By})
	if err != nil {
		return note, pending{}, err
	}
	p, err := newPending(c)
	return note, p, err
}

// cancelTurn stops the running turn.
func (h *rest) cancelTurn(c echo.Context) error {
	note, p, err := readNote(c)
	if err != nil {
		return err
	}
	known, err := h.service.CancelTurn(c.Request().Context(), callerOf(c), p.Request, note)
	return h.answerSent(c, p, known, err)
}

// closeConversation ends a conversation. It may be repeated.
func (h *rest) closeConversation(c echo.Context) error {
	note, p, err := readNote(c)
	if err != nil {
		return err
	}
	p.MayBeCompleted = true
	known, err := h.service.CloseConversation(c.Request().Context(), callerOf(c), p.Request, note)
	return h.answerSent(c, p, known, err)
}

// renameBody is the new title of a conversation, and who gives it.
type renameBody struct {
	Title string `json:"title"`
	By    string `json:"by"`
}

// rename gives a conversation a title.
func (h *rest) rename(c echo.Context) error {
	var body renameBody
	raw, err := request.Bind(c.Request(), &body)
	if err != nil {
		return err
	}
	p, err := newPending(c)
	if err != nil {
		return err
	}
	p.Fingerprint = fingerprintOf(c, raw)
	known, err := h.service.Rename(c.Request().Context(), callerOf(c), p.Request, body.Title, body.By)
	return h.answerSent(c, p, known, err)
}
