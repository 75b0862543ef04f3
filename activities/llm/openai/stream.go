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

// chatReply reads a chat completion into a draft.
type chatReply struct {
	*llm.Draft
	calls   chatCalls
	details chatDetails
	whole   bool // the answer is not a stream
}

// read reads an answer while it arrives. Servers without streams send one whole answer.
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
		return nil // the reply is complete; only the usage may be missing
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

// chunk reads an event of a stream, or a whole answer.
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

// message adds a message, or a piece of one.
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

// finished returns the reply after the end of the answer.
func (c *chatReply) finished() (llm.Reply, error) {
	if details := c.details.json(); details != nil {
		c.Native = &llm.Native{Provider: c.Provider, Model: c.Model, Content: details}
	}
	return c.Reply()
}
