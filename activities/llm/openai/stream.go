package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"mime"
	"net/http"

	"github.com/openai/openai-go/v3/packages/ssestream"

	"agent-stop-and-go/activities/llm"
)

// chatReply is a chat completion that is being read.
type chatReply struct {
	*llm.Draft
	calls   chatCalls
	details chatDetails
	whole   bool // it did not come as a stream
}

// read takes an answer in as it comes. Servers that know no streams answer with
// the whole.
func (c *chatReply) read(ctx context.Context, res *http.Response) error {
	if media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); media != "text/event-stream" {
		return c.readWhole(res)
	}
	events := ssestream.NewDecoder(res)
	for events.Next() {
		data := bytes.TrimSpace(events.Event().Data)
		if bytes.HasPrefix(data, []byte("[DONE]")) {
			return nil
		}
		if len(data) == 0 {
			continue
		}
		if err := c.chunk(data); err != nil {
			return err
		}
	}
	switch {
	case c.Finish != "" && ctx.Err() == nil:
		return nil // all was said, only the usage may be missing
	case events.Err() != nil:
		return c.Fail(events.Err())
	}
	return c.EndedEarly()
}

func (c *chatReply) readWhole(res *http.Response) error {
	body, err := llm.ReadBounded(res)
	if err != nil {
		return c.Fail(err)
	}
	c.whole = true
	return c.chunk(body)
}

// chunk takes in an event of a stream, or a whole answer: they differ in where
// the message is, and whether more of it comes.
func (c *chatReply) chunk(data []byte) error {
	var chunk chatChunk
	if json.Unmarshal(data, &chunk) != nil {
		return c.Garbage("the answer is not what its API describes")
	}
	if chunk.failed() {
		return c.Reported(data)
	}
	if chunk.Model != "" {
		c.Author = string(chunk.Model)
	}
	if chunk.Usage != nil {
		c.Usage = chunk.Usage.usage()
	}
	if c.whole && len(chunk.Choices) == 0 {
		return c.Garbage("no choices in response")
	}
	for _, choice := range chunk.Choices {
		if choice.Index == 0 {
			return c.choice(choice)
		}
	}
	return nil
}

func (c *chatReply) choice(choice chatChoice) error {
	if isSet(choice.Error) {
		return c.Reported(choice.Error)
	}
	if choice.FinishReason == "error" {
		return c.EndedEarly()
	}
	if choice.FinishReason != "" {
		c.Finish = finish(string(choice.FinishReason))
	}
	for _, m := range []chatMessage{choice.Delta, choice.Message} {
		if err := c.message(m); err != nil {
			return err
		}
	}
	return nil
}

// message takes in a message, or a piece of one.
func (c *chatReply) message(m chatMessage) error {
	c.details.add(m.Details, c.whole)
	if err := c.AddReasoning(m.thoughts()); err != nil {
		return err
	}
	for _, part := range m.Content {
		if err := c.part(part); err != nil {
			return err
		}
	}
	if err := c.AddRefusal(string(m.Refusal)); err != nil {
		return err
	}
	for _, call := range m.ToolCalls {
		if err := c.toolCall(call); err != nil {
			return err
		}
	}
	return nil
}

func (c *chatReply) part(p chatPart) error {
	switch p.Type {
	case "text":
		return c.AddText(string(p.Text))
	case "thinking":
		return c.AddReasoning(p.Thinking.text())
	}
	return nil
}

// finished is what the answer came to.
func (c *chatReply) finished() (llm.Reply, error) {
	if details := c.details.json(); details != nil {
		c.Native = &llm.Native{Provider: c.Provider, Model: c.Model, Content: details}
	}
	return c.Reply()
}
