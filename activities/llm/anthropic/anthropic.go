package anthropic

import (
	"context"
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"agent-stop-and-go/activities/llm"
)

// generate makes a call in the format of Anthropic's Messages API
// (platform.claude.com/docs/en/api/messages), always as a stream.
func generate(ctx context.Context, e llm.Endpoint, r llm.Request) (llm.Reply, error) {
	r = demand(r)
	names := llm.NewNames(r.Tools)
	c := claude{e}
	params, err := c.params(r, names)
	if err != nil {
		return llm.Reply{}, err
	}
	// anthropic.NewClient would take keys, tokens and headers from ANTHROPIC_*
	// variables and from profiles in the user's files; the service does not.
	service := anthropic.NewMessageService(c.requestOptions()...)
	var res *http.Response
	stream := service.NewStreaming(ctx, params, option.WithResponseInto(&res))
	if failed := stream.Err(); failed != nil {
		return llm.Reply{}, c.Fail(failed)
	}
	defer stream.Close()
	a := &answer{Draft: e.Draft(r, names), open: map[int64]*block{}}
	if isStream(res) {
		err = a.events(res)
	} else {
		err = a.whole(res)
	}
	if err != nil {
		return llm.Reply{}, err
	}
	return a.Reply()
}

// isStream reports whether an answer is a stream. Some gateways answer with a whole message.
func isStream(res *http.Response) bool {
	media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	return media == "text/event-stream"
}

// claude is a model behind the Messages API.
type claude struct{ llm.Endpoint }

func (c claude) requestOptions() []option.RequestOption {
	options := []option.RequestOption{
		option.WithBaseURL(withoutVersion(c.Address)),
		option.WithHTTPClient(c.Client()),
		option.WithMaxRetries(0),
		// By default the SDK makes spans, sends their IDs along, and lets environment
		// variables choose what the spans contain.
		option.WithoutOpenTelemetry(),
	}
	if c.Key != "" {
		options = append(options, option.WithAPIKey(c.Key))
	}
	for name, value := range c.Headers {
		options = append(options, option.WithHeader(name, value))
	}
	return options
}

// withoutVersion removes the version from a base URL: the SDK's paths begin with it, and people
// configure URLs with and without it.
func withoutVersion(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return base
	}
	u.RawPath = ""
	u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/v1") + "/"
	return u.String()
}

// params returns the request in the API's form.
func (c claude) params(r llm.Request, names llm.Names) (anthropic.MessageNewParams, error) {
	params := anthropic.MessageNewParams{Model: c.Model, MaxTokens: c.maxTokens(r)}
	if c.Temperature != nil {
		params.Temperature = anthropic.Float(*c.Temperature)
	}
	if strings.TrimSpace(r.System) != "" {
		params.System = []anthropic.TextBlockParam{{Text: r.System, CacheControl: anthropic.NewCacheControlEphemeralParam()}}
	}
	params.Messages = c.messages(llm.BuildTurns(r.Messages, r.Media), names)
	tools, err := claudeTools(r.Tools, names)
	params.Tools, params.ToolChoice = tools, toolChoice(r, names)
	if schema := closedSchema(r.Schema); schema != nil && len(tools) == 0 && schemaModels.MatchString(c.Model) {
		raw := mustRaw(map[string]json.RawMessage{"type": json.RawMessage(`"json_schema"`), "schema": schema})
		params.OutputConfig.Format = param.Override[anthropic.JSONOutputFormatParam](raw)
	}
	return params, err
}
