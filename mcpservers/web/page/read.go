package page

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"agent-stop-and-go/mcpservers/hosting/excerpt"

	"golang.org/x/net/html/charset"
)

// Reader reads pages.
type Reader struct {
	Client    *http.Client
	MaxBytes  int64 // of a page; the rest is not read
	UserAgent string
}

// Page is a page as text.
type Page struct {
	URL       string // after redirects
	Type      string // media type
	Title     string
	Byline    string
	Site      string
	Published string // as a date, 2006-01-02
	Text      string // Markdown, or the text itself
	Links     []string
	Whole     bool // not only the article
	Cut       bool // the page is larger than MaxBytes
}

// Read reads a page. whole takes all of an HTML page, not only the article.
func (r Reader) Read(ctx context.Context, address string, whole bool) (Page, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return Page{}, errors.New("url is malformed")
	}
	request.Header.Set("User-Agent", r.UserAgent)
	request.Header.Set("Accept", "text/html, application/xhtml+xml, text/*;q=0.9, application/json;q=0.8, */*;q=0.1")
	response, err := r.Client.Do(request)
	if err != nil {
		return Page{}, readable(err)
	}
	defer response.Body.Close()
	p := Page{URL: response.Request.URL.String()}
	kind := response.Header.Get("Content-Type")
	if p.Type, err = textType(kind); err != nil {
		return p, fmt.Errorf("%s: %w", response.Status, err)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, r.MaxBytes+1))
	if err != nil {
		return p, readable(err)
	}
	if p.Cut = int64(len(body)) > r.MaxBytes; p.Cut {
		body = body[:r.MaxBytes]
	}
	if p.Type == "" {
		if p.Type, err = textType(http.DetectContentType(body)); err != nil || p.Type == "" {
			return p, errors.New("the page is no text")
		}
	}
	if p, err = p.filled(ctx, body, kind, response.Request.URL, whole); err != nil {
		return p, err
	}
	if response.StatusCode >= http.StatusBadRequest {
		return p, fmt.Errorf("the page answers %s: %s", response.Status, excerpt.Line(p.Title+" "+p.Text, 300))
	}
	return p, nil
}

// turns bounds how many pages are made text of at a time: that takes a processor for as long as it takes.
var turns = make(chan struct{}, 2)

// filled returns the page with what is in the body. It returns in time, also if the work has to be left to
// end by itself.
func (p Page) filled(ctx context.Context, body []byte, kind string, at *url.URL, whole bool) (Page, error) {
	late := errors.New("the page took too long")
	select {
	case turns <- struct{}{}:
	case <-ctx.Done():
		return p, late
	}
	type outcome struct {
		page Page
		err  error
	}
	done := make(chan outcome, 1)
	go func(p Page) {
		defer func() {
			if r := recover(); r != nil { // a page must not end the program
				done <- outcome{p, fmt.Errorf("the page cannot be made text of: %s", excerpt.Line(fmt.Sprint(r), 200))}
			}
			<-turns
		}()
		err := p.fill(body, kind, at, whole)
		done <- outcome{p, err}
	}(p)
	select {
	case o := <-done:
		return o.page, o.err
	case <-ctx.Done():
		return p, late
	}
}

// fill sets what is in the body.
func (p *Page) fill(body []byte, kind string, at *url.URL, whole bool) error {
	if len(body) == 0 { // which has no characters to guess from
		return nil
	}
	text, err := charset.NewReader(bytes.NewReader(body), kind)
	if err != nil {
		return fmt.Errorf("read the characters of the page: %w", err)
	}
	if p.Type == "text/html" || p.Type == "application/xhtml+xml" {
		return p.fillHTML(text, at, whole)
	}
	decoded, err := io.ReadAll(text)
	if err != nil {
		return fmt.Errorf("read the characters of the page: %w", err)
	}
	if p.Type == "application/json" || strings.HasSuffix(p.Type, "+json") {
		decoded = body // which is UTF-8, and says so nowhere
	}
	p.Text, _ = excerpt.Bytes(decoded, len(decoded))
	return nil
}

// texts are media types of texts that do not say so.
var texts = []string{"application/json", "application/xml", "application/xhtml+xml", "application/javascript", "application/ecmascript",
	"application/yaml", "application/x-yaml", "application/toml", "application/sql", "application/x-sh", "application/x-ndjson", "application/jsonl"}

// textType returns the media type in a Content-Type, "" if there is none, and an error if it is not of a text.
func textType(contentType string) (string, error) {
	if contentType == "" {
		return "", nil
	}
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil && kind == "" {
		return "", fmt.Errorf("the media type %q is malformed", excerpt.Line(contentType, 100))
	}
	if strings.HasPrefix(kind, "text/") || slices.Contains(texts, kind) || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml") && kind != "image/svg+xml" {
		return kind, nil
	}
	return "", fmt.Errorf("the page is no text but %s", excerpt.Line(kind, 100))
}

// readable drops the method and the URL, which the caller knows, from an error of the client.
func readable(err error) error {
	var slow interface{ Timeout() bool }
	if errors.As(err, &slow) && slow.Timeout() {
		return errors.New("the page took too long")
	}
	var inner *url.Error
	if errors.As(err, &inner) {
		return inner.Err
	}
	return err
}
