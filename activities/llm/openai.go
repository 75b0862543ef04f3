package llm

import (
	"context"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

// chatCompletions is the format of OpenAI's chat completions API.
func chatCompletions(ctx context.Context, e endpoint, r Request) (Reply, error) {
	names := newNameTable(r.Tools)
	c := completions{e}
	params, err := c.params(r, names)
	if err != nil {
		return Reply{}, err
	}
	// The service, not the client: openai.NewClient would take keys, headers
	// and organisations from OPENAI_* variables, for every provider.
	service := openai.NewChatCompletionService(c.requestOptions()...)
	res, failed := service.New(ctx, params)
	if failed != nil {
		return Reply{}, e.fail(failed)
	}
	return c.reply(res, e.draft(r, names))
}

// completions is a model that is reached by chat completions.
type completions struct{ endpoint }

func (c completions) requestOptions() []option.RequestOption {
	options := []option.RequestOption{
		option.WithBaseURL(c.baseURL),
		option.WithHTTPClient(c.guarded(false)),
		option.WithMaxRetries(0),
	}
	if c.key != "" {
		options = append(options, option.WithAPIKey(c.key))
	}
	for name, value := range c.headers() {
		options = append(options, option.WithHeader(name, value))
	}
	return options
}

// params is the request as the API wants it.
func (c completions) params(r Request, names nameTable) (openai.ChatCompletionNewParams, error) {
	params := openai.ChatCompletionNewParams{Model: c.Model}
	if c.Temperature != nil {
		params.Temperature = openai.Float(*c.Temperature)
	}
	if strings.TrimSpace(r.System) != "" {
		params.Messages = append(params.Messages, openai.SystemMessage(r.System))
	}
	switch limit := int64(c.replyLimit(r)); {
	case limit <= 0:
	case c.provider.dialect.completionLimit:
		params.MaxCompletionTokens = openai.Int(limit)
	default:
		params.MaxTokens = openai.Int(limit)
	}
	turns := exchangeWith(r.Messages, c.provider.shown(c.Model, r.Media))
	params.Messages = append(params.Messages, c.provider.dialect.messages(turns, names)...)
	tools, err := c.provider.dialect.toolParams(r.Tools, names)
	params.Tools = tools
	return params, err
}
