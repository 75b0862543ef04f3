package openapi

import (
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"agent-stop-and-go/mcpservers/hosting/excerpt"

	"golang.org/x/net/html/charset"
)

// outcome is the result of a call.
type outcome struct {
	Status int    `json:"status"`
	Text   string `json:"text"`
}

// shownHeaders say more about a result.
var shownHeaders = []string{"Location", "Link", "Retry-After", "ETag"}

// longest is the length of the longest credential that is masked, in bytes.
const longest = 8 << 10

// read reads a response. Its text is the body; in front of it are the status, unless it is 200, and headers
// that say more. mask is applied before something is cut.
func read(response *http.Response, limit int, mask func(string) string) (*outcome, error) {
	body, err := io.ReadAll(io.LimitReader(response.Body, int64(limit)+longest+1))
	if err != nil {
		return nil, err
	}
	var head []string
	if response.StatusCode != http.StatusOK || response.Request.Method == http.MethodHead {
		head = append(head, excerpt.Line(mask(response.Status), 300))
	}
	for _, name := range shownHeaders {
		if value := response.Header.Get(name); value != "" {
			head = append(head, name+": "+excerpt.Line(mask(value), 1000))
		}
	}
	if response.Request.Method == http.MethodHead {
		head = append(head, fmt.Sprintf("Content-Type: %s, Content-Length: %d", excerpt.Line(mask(response.Header.Get("Content-Type")), 100), response.ContentLength))
	}
	text := strings.TrimSpace(strings.Join(head, "\n") + "\n" + bodyText(response, body, limit, mask))
	if text == "" {
		text = excerpt.Line(mask(response.Status), 300)
	}
	return &outcome{response.StatusCode, text}, nil
}

// bodyText returns a body as text, or what it is if it is none.
func bodyText(response *http.Response, body []byte, limit int, mask func(string) string) string {
	whole := len(body) <= limit+longest
	kind := response.Header.Get("Content-Type")
	name, _, _ := mime.ParseMediaType(kind)
	isText := strings.HasPrefix(name, "text/") || strings.HasSuffix(name, "json") || strings.HasSuffix(name, "xml") || strings.Contains(name, "yaml") || name == "application/x-www-form-urlencoded"
	complete := body
	for n := 0; len(body) > limit && n < utf8.UTFMax && len(complete) > 0 && !utf8.Valid(complete); n++ {
		complete = complete[:len(complete)-1] // half a character at the end
	}
	switch {
	case len(body) == 0:
		return ""
	case !isText && (name != "" || !utf8.Valid(complete)):
		size := fmt.Sprint(len(body))
		if len(body) > limit {
			size = fmt.Sprintf("more than %d", limit)
		}
		return fmt.Sprintf("(%s bytes of %s, which is no text)", size, excerpt.Line(mask(name)+" ", 100))
	}
	if strings.HasPrefix(name, "text/") && !utf8.Valid(complete) {
		if reader, err := charset.NewReader(strings.NewReader(string(body)), kind); err == nil {
			if decoded, err := io.ReadAll(reader); err == nil {
				body = decoded
			}
		}
	}
	body = []byte(mask(string(body)))
	if !whole && len(body) > longest { // at whose end there may be half a credential
		body = body[:len(body)-longest]
	}
	text, cut := excerpt.Bytes(body, limit)
	if cut || !whole {
		text += fmt.Sprintf("\n(cut after %d bytes; ask for less, such as with a filter or a page)", limit)
	}
	return text
}
