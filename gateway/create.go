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
	Message string     `json:"message"`
	Files   []fileBody `json:"files"`
	// Model and KeepModel are as in service.Message.
	Model     string `json:"model"`
	KeepModel bool   `json:"keep_model"`
}

// fileBody is a file that comes with a message, in base64.
type fileBody struct {
	Name      string `json:"name"`
	MediaType string `json:"media_type"`
	Data      []byte `json:"data"`
}

// Bounds of a message, besides that of the body.
const (
	maxText     = 1 << 20
	maxFiles    = 16
	maxFileName = 200
)

func (m messageBody) empty() bool { return m.Message == "" && len(m.Files) == 0 }

func (m messageBody) blank() bool { return strings.TrimSpace(m.Message) == "" && len(m.Files) == 0 }

// check fails if members do not fit together.
func (m messageBody) check() error {
	switch {
	case m.KeepModel && m.Model == "":
		return service.Errorf(contract.KindInvalid, "keep_model needs a model to keep")
	case m.Model != "" && m.empty():
		return service.Errorf(contract.KindInvalid, "model needs a message, which it answers")
	}
	return nil
}

// message returns the message in a body, with text files in its text. For a streamed request it
// has the request ID as client ID, by which its turn is found.
func (m messageBody) message(c echo.Context, requestID string) (service.Message, error) {
	out := service.Message{Model: m.Model, KeepModel: m.KeepModel}
	switch {
	case len(m.Message) > maxText:
		return out, service.Errorf(contract.KindTooLarge, "message too large: it has %d bytes, the limit is %d; longer texts can be sent as files", len(m.Message), maxText)
	case len(m.Files) > maxFiles:
		return out, service.Errorf(contract.KindTooLarge, "the message has %d files: the limit is %d", len(m.Files), maxFiles)
	}
	var parts []string
	if m.Message != "" {
		parts = append(parts, m.Message)
	}
	for n, f := range m.Files {
		if f.Name == "" || len(f.Name) > maxFileName || len(f.Data) == 0 {
			return out, service.Errorf(contract.KindInvalid, "files[%d]: expected a name of 1 to %d bytes and data", n, maxFileName)
		}
		file := service.File{Name: f.Name, MediaType: request.MediaType(f.MediaType, f.Data), Data: f.Data}
		text, shown, err := request.Attachment(file)
		if err != nil {
			return out, err
		}
		if shown {
			out.Files = append(out.Files, file)
		}
		parts = append(parts, text)
	}
	out.Text = strings.Join(parts, "\n\n")
	if streams(c) {
		out.ClientID = requestID
	}
	return out, nil
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
	if !body.empty() && body.blank() {
		return service.Errorf(contract.KindInvalid, "message is blank; leave it out to start a conversation without one")
	}
	if err := body.check(); err != nil {
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
	id, err := h.service.NewID(c.Request().Context(), callerOf(c), key)
	if err != nil {
		return err
	}
	callOf(c).ConversationID = id
	p := pending{status: http.StatusCreated, Request: service.Request{
		ConversationID: id, ID: requestID(c, id, key), Repeatable: key != "", Fingerprint: fingerprintOf(c, raw), Whole: whole,
	}}
	opened, settled, err := h.start(c, p, body)
	switch {
	case err != nil:
		return err
	case opened.Existed && opened.Fingerprint != p.Fingerprint:
		return service.KeyReused()
	case opened.Existed:
		p.repeated = true
		c.Response().Header().Set(headerReplayed, "true")
	}
	c.Response().Header().Set("Location", "/conversations/"+id)
	switch {
	case body.empty():
		return h.created(c, p)
	case streams(c):
		return h.events.StreamFirst(c, p.Request, p.status)
	case settled != nil:
		return h.answer(c, p, *settled)
	}
	return h.await(c, p)
}

// start starts the conversation. If the reply has the settlement of the first message, start
// waits for it where it can.
func (h *rest) start(c echo.Context, p pending, body messageBody) (service.StartedConversation, *service.Settlement, error) {
	ctx, caller, in := c.Request().Context(), callerOf(c), service.NewConversation{Request: p.Request}
	if !body.empty() {
		first, err := body.message(c, p.ID)
		if err != nil {
			return service.StartedConversation{}, nil, err
		}
		in.Message = &first
		if streams(c) {
			opened, err := h.events.Start(ctx, caller, in)
			return opened, nil, err
		}
		if !request.PrefersAsync(c.Request()) {
			return h.service.StartAndAwait(ctx, caller, in)
		}
	}
	opened, err := h.service.Start(ctx, caller, in)
	return opened, nil, err
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
