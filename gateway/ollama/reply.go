package ollama

import (
	"net/http"
	"time"

	"agent-stop-and-go/gateway/exchange"
)

// reply is a reply, or a line of one. A chat has Message, a prompt Response.
type reply struct {
	Model      string  `json:"model"`
	CreatedAt  moment  `json:"created_at"`
	Message    *said   `json:"message,omitempty"`
	Response   *string `json:"response,omitempty"`
	Done       bool    `json:"done"`
	DoneReason string  `json:"done_reason,omitempty"`
	Context    []int   `json:"context,omitempty"`
	*figures
}

// said is a message of a reply.
type said struct {
	Role      string     `json:"role"`
	Content   string     `json:"content"`
	ToolCalls []toolCall `json:"tool_calls,omitempty"`
}

// figures are at the end of a reply. Durations are in nanoseconds.
type figures struct {
	TotalDuration      time.Duration `json:"total_duration"`
	LoadDuration       time.Duration `json:"load_duration"` // until the message was accepted
	PromptEvalCount    int64         `json:"prompt_eval_count"`
	PromptEvalDuration time.Duration `json:"prompt_eval_duration"` // until the first piece of a stream
	EvalCount          int64         `json:"eval_count"`
	EvalDuration       time.Duration `json:"eval_duration"`
}

// The reasons for which a reply ends.
const (
	doneStop   = "stop"
	doneLength = "length" // the model's limit
	doneLoad   = "load"
	doneUnload = "unload"
)

// line returns a line with a piece of the answer.
func (r *run) line(text string) reply {
	out := reply{Model: r.in.Target.Name, CreatedAt: moment(r.Talk.Now())}
	if r.chat {
		out.Message = &said{Role: "assistant", Content: text}
	} else {
		out.Response = &text
	}
	return out
}

// last returns the end of a reply.
func (r *run) last(of exchange.Reply, text string) reply {
	now := r.Talk.Now()
	out := r.line(text)
	if out.Done, out.DoneReason = true, doneStop; of.CutOff() {
		out.DoneReason = doneLength
	}
	if of.State != nil && !r.chat {
		out.Context = contextOf(of.State.View.ID)
	}
	t := r.clock
	if t.sent.IsZero() {
		t.sent = now
	}
	if t.first.IsZero() { // it was not streamed
		t.first = t.sent
	}
	out.figures = &figures{
		TotalDuration: span(t.asked, now), LoadDuration: span(t.asked, t.sent), PromptEvalCount: of.Usage.InputTokens,
		PromptEvalDuration: span(t.sent, t.first), EvalCount: of.Usage.OutputTokens, EvalDuration: span(t.first, now),
	}
	return out
}

// span is at least a nanosecond, because clients divide by it.
func span(from, to time.Time) time.Duration { return max(1, to.Sub(from)) }

// loaded replies to a request without a message.
func (r *run) loaded(b common) error {
	out := r.line("")
	out.Done, out.DoneReason = true, doneLoad
	if b.unloads() {
		out.DoneReason = doneUnload
	}
	return r.c.JSON(http.StatusOK, out)
}

// answer replies with a whole reply, or with a notice that the message was not sent.
func (r *run) answer(reply exchange.Reply) error {
	text, err := r.talk.Answer(reply)
	if err != nil {
		return err
	}
	if r.in.Live {
		w := r.newWriter()
		if err := w.Tell(text); err != nil {
			return err
		}
		return w.finish(reply)
	}
	out := r.last(reply, text)
	if r.chat {
		out.Message.ToolCalls = toolCalls(reply.Calls())
	}
	return r.c.JSON(http.StatusOK, out)
}
