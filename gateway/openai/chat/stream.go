package chat

import (
	"agent-stop-and-go/gateway/exchange"
	"agent-stop-and-go/gateway/sse"
	"agent-stop-and-go/workflows/record"
)

type chunk struct {
	ID      string        `json:"id"`
	Object  string        `json:"object"`
	Created int64         `json:"created"`
	Model   string        `json:"model"`
	Choices []chunkChoice `json:"choices"`
	Usage   *usage        `json:"usage,omitempty"`
}

type chunkChoice struct {
	Index        int     `json:"index"`
	Delta        delta   `json:"delta"`
	Logprobs     *string `json:"logprobs"`
	FinishReason *string `json:"finish_reason"`
}

type delta struct {
	Role      string     `json:"role,omitempty"`
	Content   *string    `json:"content,omitempty"`
	ToolCalls []toolCall `json:"tool_calls,omitempty"`
}

// writer writes a reply as chunks.
type writer struct {
	*sse.Writer
	run   *run
	head  chunk
	begun bool
}

func (r *run) newWriter() *writer {
	return &writer{Writer: r.sseWriter(), run: r, head: chunk{ID: newID(), Object: "chat.completion.chunk", Created: r.Talk.Now().Unix(), Model: r.in.Target.Name}}
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
	return w.write(chunkChoice{Delta: delta{Content: &piece}})
}

// Entries implements exchange.Listener: what the agent does with its own tools is not shown.
func (w *writer) Entries([]record.Entry) error { return nil }

// write writes a chunk, after the one with the role.
func (w *writer) write(c chunkChoice) error {
	if !w.begun {
		w.begun = true
		empty := ""
		if err := w.send(chunkChoice{Delta: delta{Role: "assistant", Content: &empty}}); err != nil {
			return err
		}
	}
	return w.send(c)
}

func (w *writer) send(choices ...chunkChoice) error {
	c := w.head
	c.Choices = choices
	return w.encode(c)
}

func (w *writer) encode(v any) error {
	data, err := sse.Encode(v)
	if err != nil {
		return err
	}
	return w.Send("", data)
}

// finish ends the stream of a reply.
func (w *writer) finish(r exchange.Reply) error {
	calls, why := callsOf(r, true)
	for _, c := range calls {
		if err := w.write(chunkChoice{Delta: delta{ToolCalls: []toolCall{c}}}); err != nil {
			return err
		}
	}
	if err := w.write(chunkChoice{FinishReason: &why}); err != nil {
		return err
	}
	if w.run.usage {
		last := w.head
		used := usageOf(r.Usage)
		last.Choices, last.Usage = []chunkChoice{}, &used
		if err := w.encode(last); err != nil {
			return err
		}
	}
	return w.Send("", []byte("[DONE]"))
}

// fail ends a stream with an error. Before anything was sent it returns the error.
func (w *writer) fail(err error) error {
	if !w.HeadersSent() {
		return err
	}
	if w.run.talk.Done.Err() != nil { // the client is gone
		return nil
	}
	w.run.Logger.Warn("a stream of chunks broke off", "error", err)
	_, body := w.run.Status(err, w.run.c.Request())
	return w.encode(body)
}
