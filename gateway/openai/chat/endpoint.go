package chat

import (
	"log/slog"
	"net/http"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/exchange"
	"agent-stop-and-go/gateway/openai"
	"agent-stop-and-go/gateway/openai/talk"
	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/sse"
)

// Endpoint has the HTTP handler.
type Endpoint struct {
	Talk *talk.Talk
	// Status returns the HTTP status of an error, and its body.
	Status func(error, *http.Request) (int, openai.Error)
	Logger *slog.Logger
}

// run is a request that is carried out.
type run struct {
	*Endpoint
	c    echo.Context
	in   talk.Input
	talk *talk.Run
	// usage: the client wants to know it at the end of a stream.
	usage bool
}

// Complete carries out a request.
func (ep *Endpoint) Complete(c echo.Context) error {
	var b body
	if err := request.Read(c.Request(), &b); err != nil {
		return err
	}
	in, err := b.read(ep.Talk.Models)
	if err != nil {
		return err
	}
	in.Conversation = openai.Conversation(c.Request())
	r := &run{Endpoint: ep, c: c, in: in, usage: b.StreamOptions != nil && b.StreamOptions.IncludeUsage}
	if r.talk, err = ep.Talk.Begin(c.Request(), c.Response().Header(), in); err != nil {
		return err
	}
	x, err := r.talk.Send()
	if err != nil {
		return err
	}
	if x == nil {
		return r.answer(exchange.Reply{Text: r.talk.Notice})
	}
	defer x.Close()
	if in.Live {
		return r.stream(x)
	}
	reply, err := x.Wait(r.talk.Done)
	if err != nil {
		return err
	}
	return r.answer(reply)
}

// sseWriter returns a writer of the reply.
func (r *run) sseWriter() *sse.Writer {
	return sse.New(r.c.Response(), http.StatusOK, r.Talk.Exchanges.Service.Closing())
}
