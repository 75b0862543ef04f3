package chat

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/exchange"
	"agent-stop-and-go/gateway/history"
	"agent-stop-and-go/gateway/openai"
	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/sse"
	"agent-stop-and-go/workflows/contract"
)

// Endpoint has the HTTP handler.
type Endpoint struct {
	Exchanges *exchange.Exchanges
	Finder    *history.Finder
	Models    openai.Models
	Desk      openai.Desk
	// Status returns the HTTP status of an error, and what the client is told.
	Status func(error, *http.Request) (int, openai.Error)
	Logger *slog.Logger
	Now    func() time.Time
}

// run is a request that is carried out.
type run struct {
	*Endpoint
	c      echo.Context
	ctx    context.Context // it ends when the client is gone
	caller service.Caller
	in     input
	query  history.Query
	// state is what the gateway says instead of sending the message, "" if it was sent.
	notice string
}

// Complete carries out a request.
func (ep *Endpoint) Complete(c echo.Context) error {
	var b body
	data, err := request.Body(c.Request())
	if err == nil {
		err = request.Decode(data, &b)
	}
	if err != nil {
		return err
	}
	if len(data) == 0 {
		return invalid("expected a body")
	}
	in, err := b.read(ep.Models)
	if err != nil {
		return err
	}
	call := request.From(c.Request().Context())
	r := &run{Endpoint: ep, c: c, ctx: call.Client, caller: call.Caller, in: in}
	if err := r.identify(); err != nil {
		return err
	}
	r.caller = openai.WithoutKey(r.caller, c.Request())
	x, err := r.send()
	if err != nil {
		return err
	}
	if x == nil {
		return r.answer(exchange.Reply{Text: r.notice}, false)
	}
	defer x.Close()
	if in.Stream {
		return r.stream(x)
	}
	reply, err := x.Wait(r.ctx)
	if err != nil {
		return err
	}
	return r.answer(reply, true)
}

// identify finds out whose chat it is.
func (r *run) identify() error {
	space, err := openai.Space(r.c.Request(), r.in.target)
	if err != nil {
		return err
	}
	key, again, err := openai.Key(r.c.Request())
	r.query = history.Query{Caller: r.caller, Space: space, Past: r.in.past, Text: r.in.message.Text, Key: key, Again: again}
	return err
}

// about says which conversation the request is about, in the log and in the reply.
func (r *run) about(id string) {
	request.From(r.c.Request().Context()).ConversationID = id
	r.c.Response().Header().Set(openai.HeaderConversation, id)
}

// text returns the whole text of a reply: what the agent said, and the cards of what waits.
func (r *run) text(reply exchange.Reply) (string, error) {
	added, err := r.added(reply)
	return reply.Text + added, err
}

// added returns what the gateway adds to what the agent said.
func (r *run) added(reply exchange.Reply) (string, error) {
	waiting := reply.Approvals()
	if len(waiting) == 0 {
		return "", nil
	}
	cards, err := r.Desk.Cards(waiting, r.query.Caller, r.c.Request())
	if err == nil && reply.Text != "" {
		cards = "\n\n" + cards
	}
	return cards, err
}

// remember notes the chat that the client has after a reply.
func (r *run) remember(reply exchange.Reply, text string) {
	if reply.State == nil {
		return
	}
	past := r.query.Past
	if len(r.in.results) == 0 {
		past = past.Add(true, r.query.Text)
	}
	r.Finder.Remember(r.query, past.Add(false, text), reply.State.View.ID)
}

// sseWriter returns a writer of the reply.
func (r *run) sseWriter() *sse.Writer {
	return sse.New(r.c.Response(), http.StatusOK, r.Exchanges.Service.Closing())
}

// refused returns the error for approvals that the client has to decide first.
func refused() error {
	return service.Errorf(contract.KindWaiting, "the conversation waits for an approval")
}
