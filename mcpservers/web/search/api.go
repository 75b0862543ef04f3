package search

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"agent-stop-and-go/mcpservers/hosting/excerpt"
)

// api is how a provider is asked.
type api struct {
	name, base, key, model, depth string
	client                        *http.Client
}

// maxResponse bounds the response of a provider, in bytes.
const maxResponse = 4 << 20

// post sends JSON, and decodes the JSON that comes back.
func (a api) post(ctx context.Context, path string, header http.Header, body, into any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encode request: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, a.base+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	request.Header = header
	request.Header.Set("Content-Type", "application/json")
	return a.json(request, into)
}

func (a api) json(request *http.Request, into any) error {
	request.Header.Set("Accept", "application/json")
	body, err := a.do(request)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("the response is not the JSON that was expected: %s", excerpt.Line(string(body), 200))
	}
	return nil
}

// do returns the body of a response with the status 200.
func (a api) do(request *http.Request) ([]byte, error) {
	response, err := a.client.Do(request)
	if err != nil {
		return nil, a.withoutQuery(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxResponse+1))
	tooLong := len(body) > maxResponse
	body = []byte(a.mask(string(body))) // before a part of it is cut out for an error
	switch {
	case err != nil:
		return nil, fmt.Errorf("read response: %w", a.withoutQuery(err))
	case response.StatusCode != http.StatusOK:
		return nil, a.refusal(response, body)
	case tooLong:
		return nil, fmt.Errorf("the response has more than %d bytes", maxResponse)
	}
	return body, nil
}

// shortest is the length from which a key is replaced in texts, in bytes.
const shortest = 6

// mask replaces the key. A text is masked before it is cut: a part of a key is not found.
func (a api) mask(text string) string {
	if len(a.key) < shortest {
		return text
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, a.key, "…"), url.QueryEscape(a.key), "…")
}

// withoutQuery drops the URL, in which the query is, from an error of the client, and the key.
func (a api) withoutQuery(err error) error {
	var slow interface{ Timeout() bool }
	if errors.As(err, &slow) && slow.Timeout() {
		return errors.New("no answer in time")
	}
	var inner *url.Error
	if errors.As(err, &inner) {
		err = inner.Err
	}
	return errors.New(excerpt.Line(a.mask(err.Error()), 300))
}

// refusal is the error of a response that is none.
func (a api) refusal(response *http.Response, body []byte) error {
	text := excerpt.Line(a.mask(response.Status), 100)
	if message := message(body); message != "" {
		text += ": " + message
	}
	if after := response.Header.Get("Retry-After"); after != "" {
		text += " (try again after " + excerpt.Line(a.mask(after), 40) + ")"
	}
	return errors.New(text)
}

// message finds the text in the error of a provider: error.message, error, detail.error, detail or message.
func message(body []byte) string {
	var envelope map[string]json.RawMessage
	if json.Unmarshal(body, &envelope) != nil {
		return ""
	}
	for _, name := range []string{"error", "detail", "message"} {
		var text string
		var inner struct{ Message, Error string }
		if json.Unmarshal(envelope[name], &text) == nil && text != "" {
			return excerpt.Line(text, 300)
		}
		if json.Unmarshal(envelope[name], &inner) == nil && inner.Message+inner.Error != "" {
			return excerpt.Line(inner.Message+inner.Error, 300)
		}
	}
	return ""
}
