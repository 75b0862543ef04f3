package openai

import (
	"context"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
)

// generate makes a call in the format of OpenAI's chat completions API.
func (d dialect) generate(ctx context.Context, e llm.Endpoint, r llm.Request) (llm.Reply, error) {
	c := completions{e, d}
	r = c.demand(r)
	names := llm.NewNames(r.Tools)
	params, err := c.params(r, names)
	if err != nil {
		return llm.Reply{}, err
	}
	res, err := c.ask(ctx, params)
	if err != nil {
		return llm.Reply{}, e.Fail(err)
	}
	defer res.Body.Close()
	reply := chatReply{Draft: e.Draft(r, names)}
	if err := reply.read(ctx, res); err != nil {
		return llm.Reply{}, err
	}
	return reply.finished()
}

// completions is a model behind the chat completions API.
type completions struct {
	llm.Endpoint
	dialect dialect
}

// ask sends the request. The answer is read by chatReply instead of the SDK's stream, which
// does not distinguish the last event from a closed connection, and treats {"error":null} as
// a failure.
func (c completions) ask(ctx context.Context, params openai.ChatCompletionNewParams) (*http.Response, error) {
	// openai.NewClient would take keys, headers and organisations from OPENAI_*
	// variables, for every provider; the service does not.
	service := openai.NewChatCompletionService(c.requestOptions()...)
	var res *http.Response
	_, err := service.New(ctx, params, option.WithJSONSet("stream", true), option.WithResponseBodyInto(&res))
	return res, err
}

func (c completions) requestOptions() []option.RequestOption {
	options := []option.RequestOption{
		option.WithBaseURL(c.Address),
		option.WithHTTPClient(c.Client()),
		option.WithMaxRetries(0),
	}
	if c.Key != "" {
		options = append(options, option.WithAPIKey(c.Key))
	}
	for name, value := range c.Headers {
		options = append(options, option.WithHeader(name, value))
	}
	return options
}

// params returns the request in the API's form.
func (c completions) params(r llm.Request, names llm.Names) (openai.ChatCompletionNewParams, error) {
	params := openai.ChatCompletionNewParams{Model: c.Model}
	if c.Temperature != nil {
		params.Temperature = openai.Float(*c.Temperature)
	}
	if strings.TrimSpace(r.System) != "" {
		params.Messages = append(params.Messages, openai.SystemMessage(r.System))
	}
	switch limit := int64(c.ReplyLimit(r)); {
	case limit <= 0:
	case c.dialect.completionLimit:
		params.MaxCompletionTokens = openai.Int(limit)
	default:
		params.MaxTokens = openai.Int(limit)
	}
	turns := llm.BuildTurns(r.Messages, r.Media)
	params.Messages = append(params.Messages, c.messages(turns, names)...)
	if !c.dialect.ownUsage {
		params.StreamOptions.IncludeUsage = openai.Bool(true)
	}
	var err error
	if params.Tools, err = c.dialect.toolParams(r.Tools, names); err == nil {
		c.choose(&params, r, names)
		params.ResponseFormat, err = c.responseFormat(r)
	}
	return params, err
}

// responseFormat asks for a reply that matches the schema, except with tools on offer: some
// providers' models call no tool then.
func (c completions) responseFormat(r llm.Request) (openai.ChatCompletionNewParamsResponseFormatUnion, error) {
	var format openai.ChatCompletionNewParamsResponseFormatUnion
	if !c.dialect.schemas || len(r.Schema) == 0 || len(r.Tools) > 0 {
		return format, nil
	}
	if !llm.IsObject(r.Schema) {
		return format, &llm.Error{Kind: contract.KindModelRequest, Message: "the schema of the reply is not a JSON object"}
	}
	format.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
		JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "reply", Schema: r.Schema, Strict: openai.Bool(false)},
	}
	return format, nil
}
