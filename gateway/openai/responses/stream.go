package responses

import (
	"bytes"
	"net/http"

	"agent-stop-and-go/gateway/exchange"
	"agent-stop-and-go/gateway/openai"
	"agent-stop-and-go/gateway/sse"
	"agent-stop-and-go/workflows/record"
)

// writer writes a response as a stream of events.
type writer struct {
	*sse.Writer
	run    *run
	events *events
	quiet  bool
}

// newWriter returns a writer of the events behind a number; -1 is all.
func (r *run) newWriter(after int64) *writer {
	w := &writer{Writer: sse.New(r.c.Response(), http.StatusOK, r.Talk.Exchanges.Service.Closing()), run: r, quiet: r.quiet}
	w.events = &events{after: after, send: w.sendEvent}
	return w
}

func (w *writer) sendEvent(name string, data []byte) error {
	var b bytes.Buffer
	b.WriteString("event: " + name + "\n")
	sse.AppendHead(&b, "")
	b.Write(data)
	b.WriteString("\n\n")
	return w.Write(b.Bytes())
}

// stream writes the response while the agent writes it.
func (r *run) stream(x *exchange.Exchange, after int64) error {
	w := r.newWriter(after)
	defer w.HurryOnClose()()
	if err := w.begin(); err != nil {
		return err
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

func (w *writer) begin() error {
	if err := w.Begin(); err != nil {
		return err
	}
	return w.events.begin(w.run.response)
}

// Tell implements exchange.Listener.
func (w *writer) Tell(piece string) error {
	if w.quiet {
		return nil
	}
	return w.events.tell(messageID(w.run.response.ID), piece)
}

// Entries implements exchange.Listener: what the agent does with its own tools is not shown.
func (w *writer) Entries([]record.Entry) error { return nil }

// finish writes what of the output was not written yet, and the end.
func (w *writer) finish() error {
	for n, o := range w.run.response.Output {
		if o.Type != "message" {
			if err := w.events.closeMessage(); err != nil {
				return err
			}
			if err := w.events.item(o); err != nil {
				return err
			}
			continue
		}
		if n > 0 || w.quiet {
			if err := w.events.closeMessage(); err != nil {
				return err
			}
			if err := w.events.tell(o.ID, o.Content[0].Text); err != nil {
				return err
			}
		}
		if n == 0 && !w.quiet && w.events.open != o.ID { // nothing was told, as of cards alone
			if err := w.events.tell(o.ID, o.Content[0].Text); err != nil {
				return err
			}
		}
	}
	if err := w.events.closeMessage(); err != nil {
		return err
	}
	if err := w.events.end(w.run.response); err != nil {
		return err
	}
	return w.Send("", []byte("[DONE]"))
}

// fail ends a stream with an error. The response itself goes on, unless the agent has failed.
func (w *writer) fail(err error) error {
	if w.run.talk.Done.Err() != nil { // the client is gone
		return nil
	}
	w.run.Logger.Warn("a stream of a response broke off", "error", err)
	_, body := w.run.Status(err, w.run.c.Request())
	return w.error(body)
}

// error writes an error event and ends the stream.
func (w *writer) error(e openai.Error) error {
	data, err := sse.Encode(map[string]any{
		"type": "error", "code": e.Error.Code, "message": e.Error.Message, "param": e.Error.Param, "sequence_number": w.events.next, "error": e.Error,
	})
	if err != nil {
		return err
	}
	if err := w.sendEvent("error", data); err != nil {
		return err
	}
	return w.Send("", []byte("[DONE]"))
}
