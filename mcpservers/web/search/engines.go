package search

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// tavily asks POST /search.
func (a api) tavily(ctx context.Context, query string, most int) (Results, error) {
	var found struct {
		Answer  string
		Results []struct{ Title, URL, Content string }
	}
	body := map[string]any{"query": query, "max_results": most, "search_depth": a.depth}
	if err := a.post(ctx, "/search", http.Header{"Authorization": {"Bearer " + a.key}}, body, &found); err != nil {
		return Results{}, err
	}
	r := Results{Answer: found.Answer}
	for _, hit := range found.Results {
		r.Hits = append(r.Hits, Hit{hit.Title, hit.URL, hit.Content})
	}
	return r, nil
}

// searxng asks GET /search?format=json, a format that an instance has to allow.
func (a api) searxng(ctx context.Context, query string, _ int) (Results, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, a.base+"/search?"+url.Values{"q": {query}, "format": {"json"}}.Encode(), nil)
	if err != nil {
		return Results{}, err
	}
	var found struct {
		Results             []struct{ Title, URL, Content string }
		Answers             []json.RawMessage
		UnresponsiveEngines [][]string `json:"unresponsive_engines"`
	}
	if err := a.json(request, &found); err != nil {
		if strings.HasPrefix(err.Error(), "403") {
			return Results{}, fmt.Errorf("%w: search.formats in the settings of the instance must list json", err)
		}
		return Results{}, err
	}
	r := Results{Answer: answer(found.Answers)}
	for _, hit := range found.Results {
		r.Hits = append(r.Hits, Hit{hit.Title, hit.URL, hit.Content})
	}
	if len(r.Hits) == 0 && len(found.UnresponsiveEngines) > 0 {
		return Results{}, fmt.Errorf("no engine of the instance answered: %v", found.UnresponsiveEngines)
	}
	return r, nil
}

// answer is the first of SearXNG's answers: a text, or an object with a text.
func answer(answers []json.RawMessage) string {
	for _, raw := range answers {
		var text string
		var object struct{ Answer string }
		if json.Unmarshal(raw, &text) == nil && text != "" {
			return text
		}
		if json.Unmarshal(raw, &object) == nil && object.Answer != "" {
			return object.Answer
		}
	}
	return ""
}
