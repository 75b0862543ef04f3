package responses

import (
	"log/slog"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/exchange"
	"agent-stop-and-go/gateway/history"
	"agent-stop-and-go/gateway/openai"
	"agent-stop-and-go/gateway/openai/talk"
	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

// Endpoint has the HTTP handlers.
type Endpoint struct {
	Talk *talk.Talk
	// Status returns the HTTP status of an error, and its body.
	Status func(error, *http.Request) (int, openai.Error)
	Logger *slog.Logger
}

// headerApprovals has the value mcp if approvals are to be items though the client declares no mcp
// tool.
const headerApprovals = "X-Approvals"

// run is a request for a response.
type run struct {
	*Endpoint
	c        echo.Context
	talk     *talk.Run
	asks     asks
	response resource
	// quiet: the text comes at the end, because the client has asked for JSON.
	quiet bool
}

// Create creates a response.
func (ep *Endpoint) Create(c echo.Context) error {
	var b body
	if err := request.Read(c.Request(), &b); err != nil {
		return err
	}
	in, err := b.read(ep.Talk.Models)
	if err != nil {
		return err
	}
	if err := ep.place(c, b, &in); err != nil {
		return err
	}
	r := &run{Endpoint: ep, c: c, response: b.template(in.Target.Name), asks: asksOf(c, b.labels()), quiet: in.Schema != nil}
	if r.talk, err = ep.Talk.Begin(c.Request(), c.Response().Header(), in); err != nil {
		return err
	}
	r.response.CreatedAt = ep.Talk.Now().Unix()
	x, err := r.talk.Send()
	switch {
	case err != nil:
		return err
	case x == nil:
		return r.notice(b)
	}
	defer x.Close()
	r.about(x)
	switch {
	case b.Stream:
		return r.stream(x, -1)
	case b.Background:
		return c.JSON(http.StatusOK, r.response)
	}
	reply, err := x.Wait(r.talk.Done)
	if err != nil {
		return err
	}
	if err := r.finish(reply); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, r.response)
}

func asksOf(c echo.Context, labels map[string]bool) asks {
	return asks{labels: labels, all: strings.EqualFold(c.Request().Header.Get(headerApprovals), "mcp")}
}

// about gives the response its ID, and names the conversation.
func (r *run) about(x *exchange.Exchange) {
	r.response.ID = responseID(x.Request(), r.form())
	r.response.Conversation = &conversation{prefixConversation + compact(x.ConversationID())}
}

// form returns the form of the response, for its ID.
func (r *run) form() (form string) {
	if r.asks.all || len(r.asks.labels) > 0 {
		form = formApprovals
	}
	if r.quiet {
		form += formAnswer
	}
	return form
}

// place finds out in which conversation the request goes on, if it names one. What follows a response
// that was followed already begins a new one, with what was said before as context.
func (ep *Endpoint) place(c echo.Context, b body, in *talk.Input) error {
	named, previous, err := b.names()
	if err != nil {
		return err
	}
	if in.Conversation = named; named == "" {
		in.Conversation = openai.Conversation(c.Request())
	}
	if previous != nil {
		err := ep.after(c, *previous, in)
		return previousGone(err, *b.PreviousResponseID)
	}
	if referred, ok := b.Input.reference(); ok && in.Conversation == "" {
		if err := ep.after(c, referred, in); !service.IsKind(err, contract.KindNotFound) {
			return err
		}
	}
	return nil
}

// after has a request go on behind a response.
func (ep *Endpoint) after(c echo.Context, previous service.Request, in *talk.Input) error {
	state, err := ep.Talk.Exchanges.Service.State(c.Request().Context(), previous.ConversationID)
	if err != nil {
		return err
	}
	chat, last, ok := upTo(state, previous.ID)
	switch {
	case !ok:
		return noResponse(previous.ID)
	case last || len(in.Results)+len(in.Answers) > 0:
		in.Conversation = state.View.ID
	default:
		in.Conversation, in.Fork, in.Past = "", true, chat
	}
	return nil
}

func previousGone(err error, id string) error {
	if service.IsKind(err, contract.KindNotFound) {
		return noResponse(id)
	}
	return err
}

// upTo returns what was said up to the end of a response, and whether nothing was said after it.
func upTo(s *record.State, requestID string) (chat history.Chat, last, ok bool) {
	entries := s.Entries()
	end := len(entries)
	for i, e := range entries {
		begins := e.Kind == record.KindMessage || e.Kind == record.KindDecision
		switch {
		case begins && (e.Kind == record.KindMessage && e.ClientID() == requestID || e.Approval != nil && e.Approval.RequestID == requestID):
			ok, end = true, len(entries)
		case ok && e.Kind == record.KindMessage && end == len(entries):
			end = i
		}
	}
	return history.Of(entries[:end]), end == len(entries), ok
}

// notice replies that the message was not sent, because something waits.
func (r *run) notice(b body) error {
	id := r.c.Response().Header().Get(openai.HeaderConversation)
	r.response.ID = prefixResponse + compact(contract.NameUUID(id, r.talk.Notice))
	r.response.Status, r.response.Usage = statusCompleted, usageOf(contract.Usage{})
	r.response.Output = []output{message(messageID(r.response.ID), r.talk.Notice)}
	if !b.Stream {
		return r.c.JSON(http.StatusOK, r.response)
	}
	w := r.newWriter(-1)
	if err := w.begin(); err != nil {
		return err
	}
	if err := w.Tell(r.talk.Notice); err != nil {
		return err
	}
	return w.finish()
}

// finish completes the response by the reply of the agent.
func (r *run) finish(reply exchange.Reply) error {
	text := reply.Text
	if r.quiet && reply.Response != "" {
		text = reply.Response
	}
	return r.complete(reply, text)
}

func (r *run) complete(reply exchange.Reply, text string) error {
	o := &r.response
	o.Output = []output{}
	if text != "" {
		o.Output = append(o.Output, message(messageID(o.ID), text))
	}
	items, others := r.asks.rest(o.ID, reply)
	o.Output = append(o.Output, items...)
	cards, err := r.talk.Cards(others)
	if err != nil {
		return err
	}
	if cards != "" {
		o.Output = append(o.Output, message(cardID(o.ID), cards))
	}
	o.Status, o.Usage = statusCompleted, usageOf(reply.Usage)
	switch reply.Outcome {
	case contract.OutcomeCancelled:
		o.Status = statusCancelled
	case contract.OutcomeFailed:
		o.Status, o.Error = statusFailed, &failure{"server_error", reply.Response}
	}
	if o.Status == statusCompleted {
		at := r.Talk.Now().Unix()
		o.CompletedAt = &at
	}
	r.talk.Remember(reply, strings.TrimSpace(text+"\n\n"+cards))
	return nil
}
