package activities_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/activities"
	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
)

func sampler(m llm.Model) (*activities.Sampler, *bytes.Buffer) {
	log := &bytes.Buffer{}
	return &activities.Sampler{Model: m, Name: "openai:gpt-4o", Logger: slog.New(slog.NewJSONHandler(log, nil))}, log
}

func sampled() toolbox.Sample {
	return toolbox.Sample{Server: "notes", System: "Be brief.", MaxTokens: 99, Turns: []toolbox.SampleTurn{
		{Text: "hi"}, {Assistant: true, Text: "ho"}, {}, {Text: "secret plans"},
	}}
}

func TestAServerIsAnsweredByTheAgentsModel(t *testing.T) {
	var got llm.Request
	s, log := sampler(fakeModel{func(_ context.Context, r llm.Request) (llm.Reply, error) {
		got = r
		return llm.Reply{Text: "hey", Model: "gpt-4o-2024", Finish: llm.FinishStop, Usage: contract.Usage{InputTokens: 12, OutputTokens: 3}}, nil
	}})
	said, err := s.Sample(t.Context(), sampled())
	if want := (toolbox.SampleResult{Text: "hey", Model: "gpt-4o-2024", StopReason: "endTurn"}); err != nil || said != want {
		t.Errorf("got %+v, %v", said, err)
	}
	want := llm.Request{Model: "openai:gpt-4o", System: "Be brief.", MaxTokens: 99, Messages: []contract.Message{
		{Role: contract.RoleUser, Content: contract.Inline("hi")}, {Role: contract.RoleAssistant, Content: contract.Inline("ho")},
		{Role: contract.RoleUser, Content: contract.Inline("secret plans")},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
	var line map[string]any
	if err := json.Unmarshal(log.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{
		"level": "INFO", "server": "notes", "model": "openai:gpt-4o", "max_tokens": 99.0, "input_tokens": 12.0, "output_tokens": 3.0,
	} {
		if line[key] != want {
			t.Errorf("%s: %v, expected %v", key, line[key], want)
		}
	}
	if strings.Contains(log.String(), "plans") {
		t.Errorf("the log holds what was said: %s", log)
	}
}

func TestWhyAModelStoppedInTheWordsOfMCP(t *testing.T) {
	for finish, want := range map[string]string{
		llm.FinishStop: "endTurn", llm.FinishLength: "maxTokens", llm.FinishRefusal: "refusal", "content_filter": "content_filter",
	} {
		s, _ := sampler(replies(llm.Reply{Text: "x", Finish: finish}, nil))
		if said, err := s.Sample(t.Context(), sampled()); err != nil || said.StopReason != want {
			t.Errorf("%s: got %+v, %v", finish, said, err)
		}
	}
}

func TestAServerThatCannotBeAnswered(t *testing.T) {
	failed := &llm.Error{Kind: contract.KindModelAuth, Message: "set the environment variable OPENAI_API_KEY"}
	tests := map[string]struct {
		model fakeModel
		turns []toolbox.SampleTurn
		want  string
	}{
		"a failed model":  {replies(llm.Reply{}, failed), sampled().Turns, "the model did not answer: model_auth"},
		"another failure": {replies(llm.Reply{}, errors.New("OPENAI_API_KEY")), sampled().Turns, "the model did not answer: internal"},
		"no words":        {replies(llm.Reply{Finish: llm.FinishToolCalls}, nil), sampled().Turns, "the model has answered without words"},
		"nothing asked":   {fakeModel{}, []toolbox.SampleTurn{{}}, "there is no text to answer"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, log := sampler(tt.model)
			in := sampled()
			in.Turns = tt.turns
			said, err := s.Sample(t.Context(), in)
			if err == nil || err.Error() != tt.want || said != (toolbox.SampleResult{}) {
				t.Errorf("got %+v, %v; expected %q", said, err, tt.want)
			}
			if strings.Contains(tt.want, "did not") && !strings.Contains(log.String(), "OPENAI_API_KEY") {
				t.Errorf("the log does not say why: %s", log)
			}
		})
	}
}
