package builtin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"time"

	"agent-stop-and-go/mcpservers/hosting/excerpt"
	"agent-stop-and-go/mcpservers/hosting/reach"
	"agent-stop-and-go/mcpservers/hosting/typed"

	"github.com/mark3labs/mcp-go/server"
)

// Tools returns the tools of the named servers.
func Tools(names []string) ([]server.ServerTool, error) {
	s := typed.NewServer("builtin", "1")
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		switch name {
		case "echo":
			typed.Add(s, typed.Tool{Name: "echo", Title: "Echo", Description: "Return a text as it is.", Effect: typed.Reads}, echo)
		case "fetch":
			typed.Add(s, typed.Tool{Name: "fetch", Title: "Fetch", Description: "Read a page of the web as text. Only addresses of the Internet can be reached.", Effect: typed.Reads, OpenWorld: true}, newFetcher(reach.Rules{}).fetch)
		case "sqlite":
			return nil, errors.New("the server sqlite is not built in: a tool that opens any file by name cannot be limited; use mcp-sql --sqlite FILE")
		default:
			return nil, fmt.Errorf("the server %q is not built in: there are echo and fetch", name)
		}
	}
	var tools []server.ServerTool
	all := s.ListTools()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		tools = append(tools, *all[name])
	}
	return tools, nil
}

type message struct {
	Message string `json:"message" jsonschema:"the text"`
}

func echo(_ context.Context, in message) (message, error) { return in, nil }

type fetchInput struct {
	URL       string `json:"url" jsonschema:"address that begins with http:// or https://"`
	MaxLength int    `json:"max_length,omitempty" jsonschema:"bytes to return at most, 64000 if it is missing"`
}

type fetchOutput struct {
	Status int    `json:"status" jsonschema:"HTTP status"`
	Type   string `json:"type" jsonschema:"media type"`
	Text   string `json:"text" jsonschema:"the page"`
	Cut    bool   `json:"cut" jsonschema:"whether a part is missing"`
}

const (
	fetchTime    = 30 * time.Second
	defaultFetch = 64_000
	maxFetch     = 1 << 20
)

type fetcher struct{ client *http.Client }

func newFetcher(rules reach.Rules) *fetcher { return &fetcher{rules.Client(fetchTime)} }

func (f *fetcher) fetch(ctx context.Context, in fetchInput) (fetchOutput, error) {
	limit := in.MaxLength
	if limit == 0 {
		limit = defaultFetch
	}
	if limit < 0 || limit > maxFetch {
		return fetchOutput{}, fmt.Errorf("max_length must be 1 to %d", maxFetch)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, in.URL, nil)
	if err != nil {
		return fetchOutput{}, errors.New("url must begin with http:// or https://")
	}
	response, err := f.client.Do(request)
	if err != nil {
		return fetchOutput{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, int64(limit)+1))
	if err != nil {
		return fetchOutput{}, err
	}
	out := fetchOutput{Status: response.StatusCode, Type: response.Header.Get("Content-Type")}
	out.Text, out.Cut = excerpt.Bytes(body, limit)
	return out, nil
}
