package search

import (
	"context"
	"io/fs"
	"strings"
	"time"
	"unicode/utf8"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// Bounds of a search.
const (
	MaxQuery    = 200   // bytes of the words
	maxWords    = 8     // that are distinct
	MaxSearched = 2_000 // conversations of a page
	maxTime     = 2 * time.Second
	pageSize    = 200
)

// Searcher searches the conversations of a list.
type Searcher struct {
	// List returns a page of the conversations that the caller in ctx sees.
	List func(ctx context.Context, q service.ListQuery) (service.Page[service.Item], error)
	// Exports has the exported conversations. It may be nil.
	Exports fs.FS
}

// Result is a page of what was found.
type Result struct {
	// Found have an Excerpt unless all words are in the title.
	Found []service.Item
	// Searched counts the conversations that this page looked at, and Texts those whose text it
	// could read.
	Searched, Texts int
	// Next continues the search. It is empty if everything was searched.
	Next []byte
}

// Search returns conversations in whose title or text all words occur, in any case.
func (s *Searcher) Search(ctx context.Context, words string, q service.ListQuery) (Result, error) {
	wanted, err := wordsOf(words)
	if err != nil {
		return Result{}, err
	}
	var out Result
	limit, began := q.Limit, time.Now()
	for {
		// A page is never larger than what is missing, so that its end is that of the result.
		q.Limit = min(limit-len(out.Found), pageSize)
		page, err := s.List(ctx, q)
		if err != nil {
			return Result{}, err
		}
		for _, item := range page.Items {
			if found, ok := s.match(wanted, item, &out); ok {
				out.Found = append(out.Found, found)
			}
		}
		out.Searched += len(page.Items)
		out.Next, q.Token = page.Next, page.Next
		if len(page.Next) == 0 || len(out.Found) > limit/2 || out.Searched >= MaxSearched || time.Since(began) > maxTime {
			return out, ctx.Err()
		}
	}
}

func (s *Searcher) match(words []string, item service.Item, out *Result) (service.Item, bool) {
	missing := without(words, strings.ToLower(item.Title))
	texts, ok := s.texts(item.ID, missing)
	if ok {
		out.Texts++
	}
	if len(missing) == 0 {
		return item, true
	}
	all := strings.ToLower(strings.Join(texts, "\n"))
	if len(without(missing, all)) > 0 {
		return service.Item{}, false
	}
	item.Excerpt = excerpt(texts, missing[0])
	return item, true
}

// without returns the words that do not occur in a text of lower case.
func without(words []string, text string) (missing []string) {
	for _, w := range words {
		if !strings.Contains(text, w) {
			missing = append(missing, w)
		}
	}
	return missing
}

func wordsOf(text string) ([]string, error) {
	words := strings.Fields(strings.ToLower(text))
	switch {
	case len(text) > MaxQuery || !utf8.ValidString(text):
		return nil, service.Errorf(contract.KindInvalid, "q: expected at most %d bytes of UTF-8", MaxQuery)
	case len(words) == 0 || len(words) > maxWords:
		return nil, service.Errorf(contract.KindInvalid, "q: expected 1 to %d words", maxWords)
	}
	return words, nil
}
