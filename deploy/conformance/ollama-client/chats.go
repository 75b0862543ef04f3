package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/ollama/ollama/api"
)

// talk is a chat as clients keep it.
type talk struct {
	client   *api.Client
	messages []api.Message
	tools    api.Tools
	stream   *bool
}

// answer is what a chat or a prompt was answered.
type answer struct {
	text  string
	calls []api.ToolCall
	parts int
	last  api.ChatResponse
}

// ask sends what the chat holds with one text more, unless it is "".
func (t *talk) ask(ctx context.Context, text string) (a answer, err error) {
	if text != "" {
		t.messages = append(t.messages, api.Message{Role: "user", Content: text})
	}
	err = t.client.Chat(ctx, &api.ChatRequest{Model: model, Messages: t.messages, Tools: t.tools, Stream: t.stream}, func(r api.ChatResponse) error {
		a.text, a.parts, a.last = a.text+r.Message.Content, a.parts+1, r
		a.calls = append(a.calls, r.Message.ToolCalls...)
		return nil
	})
	t.messages = append(t.messages, api.Message{Role: "assistant", Content: a.text, ToolCalls: a.calls})
	return a, err
}

var whole = false // what Stream points at for a reply in one piece

// says asks, and wants a text in reply.
func (t *talk) says(ctx context.Context, text, reply string) (answer, error) {
	a, err := t.ask(ctx, text)
	return a, errors.Join(err, want("the reply to "+text, a.text, reply))
}

var chats = []check{
	{"a chat that is streamed, and one that is not", func(ctx context.Context, client *api.Client) error {
		for _, stream := range []*bool{nil, &whole} {
			t := talk{client: client, stream: stream}
			_, err := t.says(ctx, "say one", "one")
			a, again := t.says(ctx, "say some streamed words", "some streamed words")
			if err := errors.Join(err, again, want("the end", a.last.Done, true), want("the reason", a.last.DoneReason, "stop")); err != nil {
				return err
			}
			if (a.parts > 1) != (stream == nil) {
				return fmt.Errorf("%d parts", a.parts)
			}
			if a.last.TotalDuration <= 0 || a.last.EvalDuration <= 0 || a.last.CreatedAt.IsZero() || a.last.Model != model {
				return fmt.Errorf("no figures: %+v", a.last)
			}
		}
		return nil
	}},
	{"a prompt, and its context", func(ctx context.Context, client *api.Client) error {
		var before []int
		for _, word := range []string{"one", "two"} {
			text, last := "", api.GenerateResponse{}
			err := client.Generate(ctx, &api.GenerateRequest{Model: model, Prompt: "say " + word, Context: before}, func(r api.GenerateResponse) error {
				text, last = text+r.Response, r
				return nil
			})
			if err := errors.Join(err, want("the reply", text, word), want("the end", last.Done, true)); err != nil {
				return err
			}
			if len(last.Context) == 0 || before != nil && !slices.Equal(before, last.Context) {
				return fmt.Errorf("the context is %v after %v", last.Context, before)
			}
			before = last.Context
		}
		return nil
	}},
	{"loading", func(ctx context.Context, client *api.Client) error {
		return client.Chat(ctx, &api.ChatRequest{Model: model}, func(r api.ChatResponse) error { return want("the reason", r.DoneReason, "load") })
	}},
	{"codes", func(ctx context.Context, client *api.Client) error {
		for _, word := range []string{"approve", "reject"} {
			t := talk{client: client, stream: &whole}
			asked, err := t.ask(ctx, "call note_add {}")
			if err != nil {
				return err
			}
			code := regexp.MustCompile(`approve (\S+)`).FindStringSubmatch(asked.text)
			if code == nil {
				return fmt.Errorf("no code in %s", asked.text)
			}
			done, err := t.ask(ctx, word+" "+code[1])
			if err != nil || regexp.MustCompile(`Approval needed`).MatchString(done.text) {
				return fmt.Errorf("%s: %s %v", word, done.text, err)
			}
			if _, err := t.says(ctx, "say on", "on"); err != nil {
				return err
			}
		}
		return nil
	}},
	{"a tool of the client", func(ctx context.Context, client *api.Client) error {
		properties := api.NewToolPropertiesMap()
		properties.Set("city", api.ToolProperty{Type: api.PropertyType{"string"}})
		weather := api.ToolFunction{Name: "weather", Description: "the weather", Parameters: api.ToolFunctionParameters{Type: "object", Required: []string{"city"}, Properties: properties}}
		t := talk{client: client, tools: api.Tools{{Type: "function", Function: weather}}}
		asked, err := t.ask(ctx, `call weather {"city":"Bern"}`)
		if err != nil || len(asked.calls) != 1 {
			return fmt.Errorf("%+v %v", asked, err)
		}
		call := asked.calls[0]
		city, _ := call.Function.Arguments.Get("city")
		if err := errors.Join(want("the tool", call.Function.Name, "weather"), want("the city", city, "Bern")); err != nil {
			return err
		}
		t.messages = append(t.messages, api.Message{Role: "tool", ToolName: "weather", ToolCallID: call.ID, Content: "sunny"})
		told, err := t.ask(ctx, "")
		if err == nil && !regexp.MustCompile("sunny").MatchString(told.text) {
			err = fmt.Errorf("told: %s", told.text)
		}
		return err
	}},
	{"a stream that is left", func(ctx context.Context, client *api.Client) error {
		left := errors.New("left")
		request := &api.ChatRequest{Model: model, Messages: []api.Message{{Role: "user", Content: "say some streamed words"}}}
		if err := client.Chat(ctx, request, func(api.ChatResponse) error { return left }); !errors.Is(err, left) {
			return fmt.Errorf("%v", err)
		}
		_, err := (&talk{client: client}).says(ctx, "say here", "here")
		return err
	}},
}
