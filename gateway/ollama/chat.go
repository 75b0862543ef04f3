package ollama

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/exchange"
	"agent-stop-and-go/gateway/openai"
	"agent-stop-and-go/gateway/openai/talk"
	"agent-stop-and-go/gateway/request"
)

// run is a request that is carried out.
type run struct {
	*Endpoint
	c  echo.Context
	in talk.Input
	// chat: the reply is a message of a chat, and not the answer to a prompt.
	chat  bool
	talk  *talk.Run
	clock clock
}

// clock has the times of a reply.
type clock struct{ asked, sent, first time.Time }

// chat carries out a request to /api/chat.
func (ep *Endpoint) chat(c echo.Context) error {
	var b chatBody
	if err := bind(c.Request(), &b); err != nil {
		return err
	}
	r, err := ep.begin(c, b.common, true)
	if err != nil {
		return err
	}
	if len(b.Messages) == 0 {
		return r.loaded(b.common)
	}
	if err := b.read(&r.in, ep.Talk.Models); err != nil {
		return err
	}
	return r.carryOut()
}

// generate carries out a request to /api/generate.
func (ep *Endpoint) generate(c echo.Context) error {
	var b generateBody
	if err := bind(c.Request(), &b); err != nil {
		return err
	}
	r, err := ep.begin(c, b.common, false)
	if err != nil {
		return err
	}
	if b.Prompt == "" && len(b.Images) == 0 {
		return r.loaded(b.common)
	}
	if err := b.read(&r.in); err != nil {
		return err
	}
	return r.carryOut()
}

// begin reads what both requests have.
func (ep *Endpoint) begin(c echo.Context, b common, chat bool) (*run, error) {
	r := &run{Endpoint: ep, c: c, chat: chat, clock: clock{asked: ep.Talk.Now()}}
	r.in.Live = b.Stream == nil || *b.Stream
	var err error
	if r.in.Target, err = ep.target(b.Model); err != nil {
		return nil, err
	}
	r.in.Schema, err = b.schema(ep.Talk.Models, r.in.Target)
	return r, err
}

// bind reads a body. Ollama reads one of any type, as curl sends it. Of browsers it must be JSON,
// which pages of others can send only after a preflight.
func bind(r *http.Request, v any) error {
	if r.Header.Get("Origin") == "" && r.Header.Get("Sec-Fetch-Site") == "" && r.Header.Get("Referer") == "" {
		r.Header.Set("Content-Type", echo.MIMEApplicationJSON)
	}
	data, err := request.Body(r)
	if err != nil {
		return err
	}
	if len(data) == 0 {
		return invalid("missing request body")
	}
	return request.Decode(data, v)
}

// carryOut sends what is new, and replies.
func (r *run) carryOut() (err error) {
	if r.in.Conversation == "" {
		r.in.Conversation = openai.Conversation(r.c.Request())
	}
	if r.talk, err = r.Endpoint.Talk.Begin(r.c.Request(), r.c.Response().Header(), r.in); err != nil {
		return err
	}
	x, err := r.talk.Send()
	if err != nil {
		return err
	}
	r.clock.sent = r.Talk.Now()
	if x == nil {
		return r.answer(exchange.Reply{Text: r.talk.Notice})
	}
	defer x.Close()
	if r.in.Live {
		return r.stream(x)
	}
	reply, err := x.Wait(r.talk.Done)
	if err != nil {
		return err
	}
	return r.answer(reply)
}
