package gateway_test

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
)

// goClient returns OpenAI's client for Go, of an agent whose conversations are scripts.
func goClient(t *testing.T, m *many) openai.Client {
	server := httptest.NewServer(chatting(t, m).Gateway)
	t.Cleanup(server.Close)
	return openai.NewClient(option.WithBaseURL(server.URL+"/v1"), option.WithAPIKey("anything"))
}

func TestTheGoClientChats(t *testing.T) {
	m := newMany(t)
	client := goClient(t, m)
	params := openai.ChatCompletionNewParams{Model: "helper", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("hi")}}
	first, err := client.Chat.Completions.New(t.Context(), params)
	if err != nil || first.Choices[0].Message.Content != "answer to hi" {
		t.Fatalf("%+v %v", first, err)
	}
	params.Messages = append(params.Messages, first.Choices[0].Message.ToParam(), openai.UserMessage("more"))
	stream := client.Chat.Completions.NewStreaming(t.Context(), params)
	var whole openai.ChatCompletionAccumulator
	for stream.Next() {
		whole.AddChunk(stream.Current())
	}
	if err := stream.Err(); err != nil || whole.Choices[0].Message.Content != "answer to more" || len(m.scripts) != 1 {
		t.Errorf("%+v %v, %d conversations", whole, err, len(m.scripts))
	}
	_, err = client.Models.Get(t.Context(), "gpt-4o")
	var refused *openai.Error
	if !errors.As(err, &refused) || refused.Code != "model_not_found" || refused.StatusCode != 404 {
		t.Errorf("%v", err)
	}
}

func TestTheGoClientApproves(t *testing.T) {
	m := newMany(t)
	notes(m)
	client := goClient(t, m)
	params := responses.ResponseNewParams{
		Model: "helper", Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("drop all")},
		Tools: []responses.ToolUnionParam{{OfMcp: &responses.ToolMcpParam{ServerLabel: "notes", ServerURL: openai.String("https://mcp.example.com")}}},
	}
	asked, err := client.Responses.New(t.Context(), params)
	if err != nil || len(asked.Output) != 1 || asked.Output[0].AsMcpApprovalRequest().ServerLabel != "notes" {
		t.Fatalf("%+v %v", asked, err)
	}
	params.PreviousResponseID = openai.String(asked.ID)
	params.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: responses.ResponseInputParam{responses.ResponseInputItemParamOfMcpApprovalResponse(asked.Output[0].ID, true)}}
	stream := client.Responses.NewStreaming(t.Context(), params)
	var text strings.Builder
	var end responses.Response
	for stream.Next() {
		switch e := stream.Current().AsAny().(type) {
		case responses.ResponseTextDeltaEvent:
			text.WriteString(e.Delta)
		case responses.ResponseCompletedEvent:
			end = e.Response
		}
	}
	if err := stream.Err(); err != nil || text.String() != "approved: true" || end.OutputText() != text.String() {
		t.Errorf("%q %q %v", text.String(), end.OutputText(), err)
	}
	again, err := client.Responses.Get(t.Context(), end.ID, responses.ResponseGetParams{})
	if err != nil || again.OutputText() != text.String() {
		t.Errorf("%v %v", again, err)
	}
}
