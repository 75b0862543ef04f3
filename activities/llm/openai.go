package llm

import (
	"context"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

// completions calls one provider's chat completions API.
type completions struct {
	provider provider
	key      string
	baseURL  string
	client   *http.Client
}

// generate makes one call. It retries nothing.
func (c completions) generate(ctx context.Context, model string, r Request) (Reply, error) {
	names := newNameTable(r.Tools)
	params, err := c.params(model, r, names)
	if err != nil {
		return Reply{}, err
	}
	// The service, not the client: openai.NewClient would take keys, headers
	// and organisations from OPENAI_* variables, for every provider.
	service := openai.NewChatCompletionService(c.requestOptions()...)
	res, failed := service.New(ctx, params)
	if failed != nil {
		return Reply{}, c.fail(failed, model)
	}
	return c.reply(res, model, names)
}

func (c completions) requestOptions() []option.RequestOption {
	options := []option.RequestOption{
		option.WithBaseURL(c.baseURL),
		option.WithHTTPClient(c.client),
		option.WithMaxRetries(0),
		option.WithMiddleware(readWhole),
		option.WithHeader("User-Agent", "agent-stop-and-go"),
	}
	if c.key != "" {
		options = append(options, option.WithAPIKey(c.key))
	}
	for name, value := range c.provider.headers {
		options = append(options, option.WithHeader(name, value))
	}
	return options
}

// params is the request as the API wants it.
func (c completions) params(model string, r Request, names nameTable) (openai.ChatCompletionNewParams, error) {
	params := openai.ChatCompletionNewParams{Model: model}
	if strings.TrimSpace(r.System) != "" {
		params.Messages = append(params.Messages, openai.SystemMessage(r.System))
	}
	switch {
	case r.MaxTokens <= 0:
	case c.provider.dialect.completionLimit:
		params.MaxCompletionTokens = openai.Int(int64(r.MaxTokens))
	default:
		params.MaxTokens = openai.Int(int64(r.MaxTokens))
	}
	turns := exchangeWith(r.Messages, c.provider.shown(model, r.Media))
	params.Messages = append(params.Messages, c.provider.dialect.messages(turns, names)...)
	tools, err := c.provider.dialect.toolParams(r.Tools, names)
	params.Tools = tools
	return params, err
}
