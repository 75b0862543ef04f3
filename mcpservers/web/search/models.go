package search

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// gemini is the response of models.generateContent with the tool google_search.
type gemini struct {
	Candidates []struct {
		Content struct {
			Parts []struct {
				Text    string
				Thought bool
			}
		}
		FinishReason      string `json:"finishReason"`
		GroundingMetadata struct {
			WebSearchQueries []string `json:"webSearchQueries"`
			GroundingChunks  []struct {
				Web struct{ URI, Title string }
			} `json:"groundingChunks"`
			GroundingSupports []struct {
				Segment struct{ Text string }
				Indices []int `json:"groundingChunkIndices"`
			} `json:"groundingSupports"`
		} `json:"groundingMetadata"`
	}
	PromptFeedback struct {
		BlockReason string `json:"blockReason"`
	} `json:"promptFeedback"`
}

// google asks a Gemini model, which searches.
func (a api) google(ctx context.Context, query string, _ int) (Results, error) {
	var found gemini
	body := map[string]any{
		"contents": []any{map[string]any{"role": "user", "parts": []any{map[string]any{"text": query}}}},
		"tools":    []any{map[string]any{"google_search": map[string]any{}}},
	}
	path := "/v1beta/models/" + url.PathEscape(a.model) + ":generateContent"
	if err := a.post(ctx, path, http.Header{"X-Goog-Api-Key": {a.key}}, body, &found); err != nil {
		return Results{}, err
	}
	if len(found.Candidates) == 0 {
		return Results{}, errors.New("the model gave no answer: " + cmp.Or(found.PromptFeedback.BlockReason, "no reason"))
	}
	first := found.Candidates[0]
	grounding := first.GroundingMetadata
	r := Results{Queries: grounding.WebSearchQueries}
	for _, part := range first.Content.Parts {
		if !part.Thought {
			r.Answer += part.Text
		}
	}
	for _, chunk := range grounding.GroundingChunks {
		r.Hits = append(r.Hits, Hit{chunk.Web.Title, chunk.Web.URI, ""})
	}
	for _, support := range grounding.GroundingSupports {
		for _, i := range support.Indices {
			if i >= 0 && i < len(r.Hits) {
				r.Hits[i].Snippet = strings.TrimSpace(r.Hits[i].Snippet + " " + support.Segment.Text)
			}
		}
	}
	if r.Answer == "" && len(r.Hits) == 0 {
		return Results{}, errors.New("the model gave no answer: " + cmp.Or(first.FinishReason, "no reason"))
	}
	return r, nil
}

// grok is a response of POST /v1/responses with the tool web_search.
type grok struct {
	Output []struct {
		Type    string
		Content []struct {
			Type, Text  string
			Annotations []struct{ Type, URL, Title string }
		}
	}
	Citations []string
}

// xai asks a Grok model, which searches. All pages that it looked at are results, those that the
// answer cites first.
func (a api) xai(ctx context.Context, query string, _ int) (Results, error) {
	var found grok
	body := map[string]any{
		"model": a.model, "store": false, "input": []any{map[string]any{"role": "user", "content": query}},
		"tools": []any{map[string]any{"type": "web_search"}},
	}
	if err := a.post(ctx, "/v1/responses", http.Header{"Authorization": {"Bearer " + a.key}}, body, &found); err != nil {
		return Results{}, err
	}
	var r Results
	for _, output := range found.Output {
		if output.Type != "message" {
			continue
		}
		for _, content := range output.Content {
			r.Answer += content.Text
			for _, note := range content.Annotations {
				if note.Type == "url_citation" {
					r.Hits = append(r.Hits, Hit{title(note.Title), note.URL, ""})
				}
			}
		}
	}
	for _, page := range found.Citations {
		r.Hits = append(r.Hits, Hit{"", page, ""})
	}
	if r.Answer == "" && len(r.Hits) == 0 {
		return Results{}, errors.New("the model gave no answer")
	}
	return r, nil
}

// title drops titles that are only the number of a citation.
func title(text string) string {
	if strings.Trim(text, "0123456789") == "" {
		return ""
	}
	return text
}
