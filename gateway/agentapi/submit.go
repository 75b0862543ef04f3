package agentapi

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/command"
	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// headerKey has the idempotency key of a request.
const (
	headerKey = "Idempotency-Key"
	maxKey    = 255
)

// submission is what a client sends.
type submission struct {
	client, text string
	// model answers the message and all after it, "" for that of the session.
	model string
	key   string
}

// sent is what came of a submission.
type sent struct {
	session session
	// request is that of the message, zero if none was sent.
	request service.Request
	// notice is what the commands of the text have answered.
	notice string
}

// shellBody is a message to the shell's port.
type shellBody struct {
	ClientID     string `json:"client_id"`
	Text         string `json:"text"`
	DefaultModel string `json:"default_model"`
}

// shellSubmit sends a message. The shell names a model with each, which counts if people may choose it.
func (e *Endpoint) shellSubmit(c echo.Context) error {
	var in shellBody
	if err := read(c.Request(), &in); err != nil {
		return err
	}
	if in.ClientID == "" || strings.TrimSpace(in.Text) == "" {
		return invalid("Missing fields")
	}
	out := submission{client: in.ClientID, text: in.Text}
	if slices.Contains(e.Service.Models(), in.DefaultModel) {
		out.model = in.DefaultModel
	}
	if _, err := e.submit(c, out); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]string{"status": "OK"})
}

// submit carries out the commands of a text, and sends the message that is left.
func (e *Endpoint) submit(c echo.Context, in submission) (sent, error) {
	in.key = c.Request().Header.Get(headerKey)
	if len(in.key) > maxKey {
		return sent{}, invalid("%s: expected %d bytes at most", headerKey, maxKey)
	}
	call := request.From(c.Request().Context())
	caller := call.Caller
	if !caller.Authenticated() { // clients send keys that nobody checks
		caller.Token = request.ToolToken(c.Request())
	}
	message, out, err := e.command(c.Request().Context(), caller, in)
	if err != nil {
		return out, err
	}
	notice := out.notice
	if notice != "" { // before what the agent says
		e.notices.add(caller.Own(in.client), out.session, notice, message == nil)
	}
	if message != nil {
		out, err = e.send(c.Request().Context(), caller, in, *message)
		out.notice = notice
	}
	call.ConversationID = out.session.id
	return out, err
}

// command carries out the commands of a text. It returns the message that is left, or nil.
func (e *Endpoint) command(ctx context.Context, caller service.Caller, in submission) (*service.Message, sent, error) {
	message := service.Message{Text: in.text, Model: in.model, KeepModel: in.model != ""}
	if text := strings.TrimSpace(in.text); !strings.HasPrefix(text, "!") && !strings.HasPrefix(text, "@") {
		return &message, sent{}, nil
	}
	s, err := e.find(ctx, caller, in.client)
	if err != nil {
		return nil, sent{}, err
	}
	before := ""
	if s.exists {
		before = s.id
	}
	reply, err := e.Commands.Run(ctx, caller, command.Input{Text: alias(in.text), ConversationID: before, Key: in.key})
	if err != nil {
		return nil, sent{}, err
	}
	out := sent{session: s, notice: reply.Text}
	if err := e.move(ctx, caller, s, reply, &out); err != nil {
		return nil, out, err
	}
	if reply.Message == nil {
		return nil, out, nil
	}
	message.Text = reply.Message.Text
	if reply.Model != "" {
		message.Model, message.KeepModel = reply.Model, true
	}
	if reply.Message.Model != "" {
		message.Model, message.KeepModel = reply.Message.Model, false
	}
	return &message, out, nil
}

// alias gives commands the names that they have here.
func alias(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.EqualFold(strings.TrimSpace(line), "!reset") {
			lines[i] = "!new"
		}
	}
	return strings.Join(lines, "\n")
}

// move does what a command wants after which a chat is in another conversation. A session is bound to its
// client_id: a new conversation begins when the old one is closed, and another one has another client_id.
func (e *Endpoint) move(ctx context.Context, caller service.Caller, s session, reply command.Reply, out *sent) error {
	switch {
	case reply.Model != "" && reply.Message == nil:
		out.notice += "\nThis client keeps no choice: send !model " + reply.Model + " again, with the message in the line below it."
	case reply.ConversationID != "" && reply.ConversationID != s.id:
		out.notice += "\nThe client_id " + s.client + " stays with its own session: attach to " + reply.ConversationID + " to go on there."
	case reply.Command == "new" && s.exists && len(s.view.Pending) > 0:
		return service.Errorf(contract.KindWaiting, "an approval of the session waits: decide it first")
	case reply.Command == "new" && s.exists:
		q := service.Request{ConversationID: s.id, ID: caller.RequestID(s.id, "new", "")}
		_, err := e.Service.CloseConversation(ctx, caller, q, service.Note{Reason: "the client began anew"})
		return err
	}
	return nil
}

// send sends a message to the session of a client, or begins it.
func (e *Endpoint) send(ctx context.Context, caller service.Caller, in submission, m service.Message) (out sent, err error) {
	s, known := e.last(caller, in.client)
	for range maxSlots {
		if !known {
			if s, err = e.find(ctx, caller, in.client); err != nil {
				return out, err
			}
		}
		known = false
		out.session, out.request = s, service.Request{ConversationID: s.id, ID: caller.RequestID(s.id, "submit", in.key), Repeatable: in.key != ""}
		if in.key != "" {
			out.request.Fingerprint = contract.Hash([]byte(m.Text))[:16]
		}
		m.ClientID = out.request.ID
		if !s.exists {
			var begun bool
			if begun, err = e.begin(ctx, caller, out, m); begun || err != nil && !isGone(err) {
				return out, err
			}
		}
		e.notices.goOn(caller.Own(in.client))
		if err = e.say(ctx, caller, out.request, m); !isGone(err) || s.fixed {
			return out, err
		}
	}
	return out, err
}

// begin starts a session with its first message. It reports whether it is new.
func (e *Endpoint) begin(ctx context.Context, caller service.Caller, s sent, m service.Message) (bool, error) {
	caller.Session = s.session.client
	started, err := e.Followers.Start(ctx, e.Service, caller, service.NewConversation{Request: s.request, Message: &m})
	if err != nil || started.Existed {
		return false, err
	}
	e.slots.Add(caller.Own(s.session.client), s.session.slot)
	e.notices.begin(caller.Own(s.session.client), s.session)
	return true, nil
}

// say sends a message to a conversation.
func (e *Endpoint) say(ctx context.Context, caller service.Caller, q service.Request, m service.Message) error {
	settled, err := e.Service.Send(ctx, caller, q, m)
	if err == nil && settled != nil {
		err = settled.Refusal()
	}
	return err
}
