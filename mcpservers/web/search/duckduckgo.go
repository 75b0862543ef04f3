package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// duckduckgo sends the form of the page without scripts, and reads its results. There is no document of
// it; SearXNG's engine duckduckgo does the same.
func (a api) duckduckgo(ctx context.Context, query string, _ int) (Results, error) {
	form := url.Values{"q": {query}, "b": {""}, "kl": {"wt-wt"}} // wt-wt: all regions
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, a.base+"/", strings.NewReader(form.Encode()))
	if err != nil {
		return Results{}, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Referer", a.base+"/")
	request.Header.Set("User-Agent", "Mozilla/5.0 (compatible; mcp-web)")
	body, err := a.do(request)
	if err != nil {
		if strings.HasPrefix(err.Error(), "202") || strings.HasPrefix(err.Error(), "403") || strings.HasPrefix(err.Error(), "429") {
			return Results{}, fmt.Errorf("%w: it takes this for a robot; wait, or use another provider", err)
		}
		return Results{}, err
	}
	doc, err := html.Parse(bytes.NewReader(body))
	if err != nil {
		return Results{}, fmt.Errorf("read the page: %w", err)
	}
	if find(doc, func(n *html.Node) bool { return attribute(n, "id") == "challenge-form" }) != nil {
		return Results{}, errors.New("it takes this for a robot and shows a puzzle; wait, or use another provider")
	}
	if find(doc, func(n *html.Node) bool { return attribute(n, "id") == "links" || hasClass(n, "no-results") }) == nil {
		return Results{}, errors.New("the page is not one of results: it may have changed; use another provider")
	}
	var r Results
	for n := range doc.Descendants() {
		if n.Data == "div" && hasClass(n, "web-result") && !hasClass(n, "result--ad") {
			r.Hits = append(r.Hits, hit(n))
		}
	}
	return r, nil
}

func hit(result *html.Node) Hit {
	link := find(result, func(n *html.Node) bool { return n.Data == "a" && hasClass(n, "result__a") })
	snippet := find(result, func(n *html.Node) bool { return hasClass(n, "result__snippet") })
	return Hit{textOf(link), target(attribute(link, "href")), textOf(snippet)}
}

// target returns the page behind a link of DuckDuckGo: //duckduckgo.com/l/?uddg=PAGE&rut=…
func target(href string) string {
	u, err := url.Parse(href)
	if err != nil {
		return ""
	}
	if page := u.Query().Get("uddg"); page != "" && strings.HasSuffix(u.Path, "/l/") {
		return page
	}
	if u.Scheme == "" && u.Host != "" {
		u.Scheme = "https"
	}
	return u.String()
}

func find(n *html.Node, is func(*html.Node) bool) *html.Node {
	for inner := range n.Descendants() {
		if inner.Type == html.ElementNode && is(inner) {
			return inner
		}
	}
	return nil
}

func attribute(n *html.Node, name string) string {
	if n == nil {
		return ""
	}
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func hasClass(n *html.Node, class string) bool {
	return slices.Contains(strings.Fields(attribute(n, "class")), class)
}

func textOf(n *html.Node) string {
	if n == nil {
		return ""
	}
	var text strings.Builder
	for inner := range n.Descendants() {
		if inner.Type == html.TextNode {
			text.WriteString(inner.Data)
		}
	}
	return text.String()
}
