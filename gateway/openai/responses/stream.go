package responses

import (
	"bytes"
	"net/http"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/exchange"
	"agent-stop-and-go/gateway/openai"
	"agent-stop-and-go/gateway/sse"
	"agent-stop-and-go/workflows/record"
)

// sink takes the events of a response.
type sink interface {
	KeepAlive() error
	// event takes an event, and flush sends those that it has taken.
	event(name string, data []byte) error
	flush() error
	// refuse sends that the stream breaks off with an error. It reports whether the response follows, failed.
	refuse(number int64, status int, e openai.Error) (follows bool, err error)
	// end follows the last event.
	end() error
}

// writer writes a response as events.
type writer struct {
	sink
	run    *run
	events *events
	quiet  bool
}

// stream writes the response while the agent writes it, behind the event with a number; -1 is all of it. Without an
// exchange the response is complete.
func (r *run) stream(x *exchange.Exchange, to sink, after int64) error {
	w := &writer{sink: to, run: r, events: &events{after: after, send: to.event}, quiet: r.quiet}
	begun := r.response
	if x == nil {
		begun.Status, begun.Output, begun.Usage, begun.CompletedAt = statusInProgress, []output{}, nil, nil
	}
	if err := w.events.begin(begun); err != nil {
		return err
	}
	if err := w.flush(); err != nil {
		return err
	}
	if x == nil {
		return w.finish()
	}
	reply, err := x.Follow(r.talk.Done, w)
	if err != nil {
		return w.fail(err)
	}
	if err := r.finish(reply); err != nil {
		return w.fail(err)
	}
	return w.finish()
}

// Tell implements exchange.Listener.
func (w *writer) Tell(piece string) error {
	if w.quiet {
		return nil
	}
	if err := w.events.tell(messageID(w.run.response.ID), piece); err != nil {
		return err
	}
	return w.flush()
}

// Entries implements exchange.Listener: what the agent does with its own tools is not shown.
func (w *writer) Entries([]record.Entry) error { return nil }

// finish writes what of the output was not written yet, and the end.
func (w *writer) finish() error {
	for _, o := range w.run.response.Output {
		if err := w.item(o); err != nil {
			return err
		}
	}
	if err := w.events.end(w.run.response); err != nil {
		return err
	}
	return w.end()
}

// item writes an item, of a message that is being written the rest.
func (w *writer) item(o output) error {
	if o.Type != "message" {
		return w.events.item(o)
	}
	if w.events.open != o.ID {
		if err := w.events.tell(o.ID, o.Content[0].Text); err != nil {
			return err
		}
	}
	return w.events.closeMessage(o.Status)
}

// fail ends a stream with an error. The response itself goes on, unless the agent has failed.
func (w *writer) fail(err error) error {
	if w.run.talk.Done.Err() != nil { // the client is gone
		return nil
	}
	w.run.Logger.Warn("a stream of a response broke off", "error", err)
	status, body := w.run.Status(err, w.run.http)
	r := &w.run.response
	r.Status, r.Error = statusFailed, &failure{orElse(body.Error.Code, body.Error.Type), body.Error.Message}
	follows, err := w.refuse(w.events.next, status, body)
	if err != nil || !follows {
		return err
	}
	w.events.next++
	if err := w.events.end(*r); err != nil {
		return err
	}
	return w.end()
}

// serverSent writes events to a reply over HTTP.
type serverSent struct {
	*sse.Writer
	taken bytes.Buffer
}

// send streams the response as the reply to an HTTP request.
func (r *run) send(c echo.Context, x *exchange.Exchange, after int64) error {
	to := &serverSent{Writer: sse.New(c.Response(), http.StatusOK, r.Talk.Exchanges.Service.Closing())}
	defer to.HurryOnClose()()
	return r.stream(x, to, after)
}

func (s *serverSent) event(name string, data []byte) error {
	s.taken.WriteString("event: " + name + "\n")
	sse.AppendHead(&s.taken, "")
	s.taken.Write(data)
	s.taken.WriteString("\n\n")
	return nil
}

func (s *serverSent) flush() error {
	defer s.taken.Reset()
	return s.Write(s.taken.Bytes())
}

func (s *serverSent) refuse(number int64, _ int, e openai.Error) (follows bool, err error) {
	data, err := sse.Encode(map[string]any{
		"type": "error", "code": e.Error.Code, "message": e.Error.Message, "param": e.Error.Param, "sequence_number": number, "error": e.Error,
	})
	if err != nil {
		return false, err
	}
	return true, s.event("error", data)
}

func (s *serverSent) end() error {
	sse.AppendHead(&s.taken, "")
	s.taken.WriteString("[DONE]\n\n")
	return s.flush()
}
