package activities

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
)

// Sampler lets MCP servers call the agent's model. They see nothing of the conversation, and no
// tools are offered. Nothing is retried.
type Sampler struct {
	Model llm.Model
	// Name is the model. The server's preferences are ignored.
	Name   string
	Logger *slog.Logger
}

var (
	errNothingAsked = errors.New("there is no text to answer")
	errNoWords      = errors.New("the model has answered without words")
)

// Sample implements toolbox.Sampler. The server gets only the kind of a failure; the log has
// the rest.
func (s *Sampler) Sample(ctx context.Context, in toolbox.Sample) (toolbox.SampleResult, error) {
	request := llm.Request{Model: s.Name, System: in.System, MaxTokens: in.MaxTokens, Messages: messagesOf(in.Turns)}
	if len(request.Messages) == 0 {
		return toolbox.SampleResult{}, errNothingAsked
	}
	log := s.Logger.With("server", in.Server, "model", s.Name, "max_tokens", in.MaxTokens)
	reply, err := s.Model.Generate(ctx, request)
	if err != nil {
		log.WarnContext(ctx, "MCP server asked the model in vain", "error", err)
		return toolbox.SampleResult{}, fmt.Errorf("the model did not answer: %s", kindOf(err))
	}
	log.InfoContext(ctx, "MCP server asked the model", "input_tokens", reply.Usage.InputTokens,
		"output_tokens", reply.Usage.OutputTokens, "finish", reply.Finish)
	if reply.Text == "" {
		return toolbox.SampleResult{}, errNoWords
	}
	return toolbox.SampleResult{Text: reply.Text, Model: reply.Model, StopReason: stopReason(reply.Finish)}, nil
}

// messagesOf converts turns to messages of a conversation, without empty ones.
func messagesOf(turns []toolbox.SampleTurn) []contract.Message {
	var out []contract.Message
	for _, t := range turns {
		m := contract.Message{Role: contract.RoleUser, Content: contract.Inline(t.Text)}
		if t.Assistant {
			m.Role = contract.RoleAssistant
		}
		if t.Text != "" {
			out = append(out, m)
		}
	}
	return out
}

// stopReason returns MCP's word for why a model stopped, or the model's own.
func stopReason(finish string) string {
	switch finish {
	case llm.FinishStop:
		return "endTurn"
	case llm.FinishLength:
		return "maxTokens"
	}
	return finish
}

func kindOf(err error) contract.Kind {
	var known *llm.Error
	if errors.As(err, &known) {
		return known.Kind
	}
	return contract.KindInternal
}
