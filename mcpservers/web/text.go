package web

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"agent-stop-and-go/mcpservers/hosting/excerpt"
	"agent-stop-and-go/mcpservers/web/page"
	"agent-stop-and-go/mcpservers/web/search"
)

// results is the result of search.
type results struct {
	Provider string       `json:"provider"`
	Answer   string       `json:"answer,omitempty"`
	Queries  []string     `json:"queries,omitempty"`
	Results  []search.Hit `json:"results"`
}

// shownSnippet is the length of a piece of text in the text of a result, in characters. Structured
// content has more of it.
const shownSnippet = 200

// Text numbers the pages, each with its title, its address and a piece of its text.
func (r *results) Text() string {
	var out strings.Builder
	if r.Answer != "" {
		fmt.Fprintf(&out, "Answer of %s:\n%s\n\n", r.Provider, r.Answer)
	}
	for i, hit := range r.Results {
		fmt.Fprintf(&out, "%d. %s\n   %s\n", i+1, hit.Title, hit.URL)
		if hit.Snippet != "" {
			fmt.Fprintf(&out, "   %s\n", excerpt.Line(hit.Snippet, shownSnippet))
		}
	}
	if len(r.Results) == 0 {
		out.WriteString("(no results)")
	}
	return strings.TrimSpace(out.String())
}

// extract is the result of extract.
type extract struct {
	URL       string `json:"url" jsonschema:"address after redirects"`
	Type      string `json:"type" jsonschema:"media type"`
	Title     string `json:"title,omitempty"`
	Byline    string `json:"byline,omitempty"`
	Site      string `json:"site,omitempty"`
	Published string `json:"published,omitempty" jsonschema:"date"`
	Whole     bool   `json:"whole,omitempty" jsonschema:"whether it is all of the page, not only the article"`
	Content   string `json:"content" jsonschema:"the text, in which [3] is link 3"`
	Links     []link `json:"links" jsonschema:"links of the text"`
	Start     int    `json:"start" jsonschema:"character with which the text begins"`
	Length    int    `json:"length" jsonschema:"characters of the whole text"`
	Next      int    `json:"next,omitempty" jsonschema:"start with which to go on"`
	Cut       bool   `json:"cut,omitempty" jsonschema:"whether the page is too large and its end was not read"`
}

type link struct {
	Number int    `json:"number"`
	URL    string `json:"url"`
}

var reference = regexp.MustCompile(`\[(\d{1,6})\]`)

// cut takes a part of a page, with its links.
func cut(p page.Page, start, length int) (*extract, error) {
	text := []rune(p.Text)
	if start > 0 && start >= len(text) {
		return nil, fmt.Errorf("start must be less than %d, the length of the text", len(text))
	}
	e := &extract{URL: p.URL, Type: p.Type, Title: excerpt.Line(p.Title, 300), Byline: excerpt.Line(p.Byline, 200), Site: excerpt.Line(p.Site, 200),
		Published: p.Published, Whole: p.Whole, Links: []link{}, Start: start, Length: len(text), Cut: p.Cut}
	end := min(len(text), start+length)
	if end < len(text) {
		e.Next = end
	}
	e.Content = string(text[start:end])
	seen := map[int]bool{}
	for _, m := range reference.FindAllStringSubmatch(e.Content, -1) {
		if n, err := strconv.Atoi(m[1]); err == nil && n >= 1 && n <= len(p.Links) && !seen[n] {
			seen[n] = true
			e.Links = append(e.Links, link{n, p.Links[n-1]})
		}
	}
	return e, nil
}

// Text is the page with a head, its links, and what is missing.
func (e *extract) Text() string {
	var out strings.Builder
	for _, line := range []string{e.Title, e.URL, strings.Trim(e.Byline+" · "+e.Site+" · "+e.Published, " ·")} {
		if line != "" {
			out.WriteString(line + "\n")
		}
	}
	out.WriteString("\n" + e.Content + "\n")
	if e.Content == "" {
		out.WriteString("(no text)\n")
	}
	if len(e.Links) > 0 {
		out.WriteString("\nLinks:\n")
	}
	for _, l := range e.Links {
		fmt.Fprintf(&out, "[%d] %s\n", l.Number, l.URL)
	}
	switch {
	case e.Next > 0:
		fmt.Fprintf(&out, "\n(characters %d to %d of %d; go on with start %d)\n", e.Start, e.Next, e.Length, e.Next)
	case e.Cut:
		out.WriteString("\n(the page is too large: its end was not read)\n")
	}
	return strings.TrimSpace(out.String())
}
