package ollama

import (
	"net/http"

	"agent-stop-and-go/gateway/exchange"
	"agent-stop-and-go/gateway/sse"
	"agent-stop-and-go/workflows/record"
)

// writer writes a reply as lines of JSON.
type writer struct {
	*sse.Writer
	run *run
}

func (r *run) newWriter() *writer {
	w := sse.New(r.c.Response(), http.StatusOK, r.Talk.Exchanges.Service.Closing())
	w.Type = "application/x-ndjson"
	return &writer{Writer: w, run: r}
}

// stream writes the reply while the agent writes it.
func (r *run) stream(x *exchange.Exchange) error {
	w := r.newWriter()
	defer w.HurryOnClose()()
	reply, err := r.talk.Stream(x, w)
	if err != nil {
		return w.fail(err)
	}
	return w.finish(reply)
}

// Tell implements exchange.Listener.
func (w *writer) Tell(piece string) error {
	if piece == "" {
		return nil
	}
	if w.run.clock.first.IsZero() {
		w.run.clock.first = w.run.Talk.Now()
	}
	return w.encode(w.run.line(piece))
}

// Entries implements exchange.Listener: what the agent does with its own tools is not shown.
func (w *writer) Entries([]record.Entry) error { return nil }

// KeepAlive implements exchange.Listener. Lines of JSON have no comments, so it is a line without
// text.
func (w *writer) KeepAlive() error { return w.encode(w.run.line("")) }

func (w *writer) encode(v any) error {
	line, err := sse.Encode(v)
	if err != nil {
		return err
	}
	return w.Write(append(line, '\n'))
}

// finish ends the stream of a reply.
func (w *writer) finish(r exchange.Reply) error {
	if calls := toolCalls(r.Calls()); len(calls) > 0 && w.run.chat {
		line := w.run.line("")
		line.Message.ToolCalls = calls
		if err := w.encode(line); err != nil {
			return err
		}
	}
	return w.encode(w.run.last(r, ""))
}

// fail ends a stream with an error. Before anything was sent it returns the error.
func (w *writer) fail(err error) error {
	if !w.HeadersSent() {
		return err
	}
	if w.run.talk.Done.Err() != nil { // the client is gone
		return nil
	}
	w.run.Logger.Warn("a stream of lines broke off", "error", err)
	return w.encode(map[string]string{"error": w.run.Text(err, w.run.c.Request())})
}
