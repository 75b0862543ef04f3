package gemini

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
)

// generate makes a call in the format of the Gemini API
// (ai.google.dev/api/generate-content), always as a stream.
//
// The client, parts and schemas of google.golang.org/genai are not used. They read numbers as
// float64, which changes large integers in arguments; they drop the empty text of a part with
// a signature and every unknown field. So a reply could not be sent back unchanged.
func generate(ctx context.Context, e llm.Endpoint, r llm.Request) (llm.Reply, error) {
	turns := llm.BuildTurns(r.Messages, r.Media)
	g := gemini{Endpoint: e, names: llm.NewLetterNames(r.Tools, turns)}
	address, err := g.address()
	if err != nil {
		return llm.Reply{}, err
	}
	body, err := g.body(r.AskInPrompt(r.Choice.Later(), g.names), turns)
	if err != nil {
		return llm.Reply{}, err
	}
	res, err := g.post(ctx, address, body)
	if err != nil {
		return llm.Reply{}, g.failed(err)
	}
	defer res.Body.Close()
	a := &answer{Draft: e.Draft(r, g.names)}
	if err := a.read(res); err != nil {
		return llm.Reply{}, g.failed(err)
	}
	return a.reply()
}

// gemini is a model behind the Gemini API.
type gemini struct {
	llm.Endpoint
	names llm.Names
}

var version = regexp.MustCompile(`^v[0-9]+((alpha|beta)[0-9]*)?$`)

// address returns the URL of a call. The base URL may end in a version of the API. The
// default is v1beta, the only one with tools and system instructions.
func (g gemini) address() (string, error) {
	u, err := url.Parse(g.Address)
	if err != nil {
		return "", g.noAddress("it is not a URL")
	}
	if strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/openai") {
		return "", g.noAddress("/openai speaks chat completions: leave it out, or use provider " + string(contract.ProviderCompatible))
	}
	if !version.MatchString(path.Base(u.Path)) {
		u = u.JoinPath("v1beta")
	}
	collection, model, ok := strings.Cut(g.Model, "/")
	if !ok {
		collection, model = "models", g.Model
	}
	u = u.JoinPath(url.PathEscape(collection), url.PathEscape(model)+":streamGenerateContent")
	query := u.Query()
	query.Set("alt", "sse")
	u.RawQuery, u.Fragment = query.Encode(), ""
	return u.String(), nil
}

func (g gemini) noAddress(why string) error {
	return &llm.Error{
		Kind:    contract.KindModelRequest,
		Message: fmt.Sprintf("the base URL of %s is not that of the Gemini API (see %s and base_url): %s", g.Provider, baseVariable, why),
	}
}

// post sends a request. The key is in a header: addresses end up in logs.
func (g gemini) post(ctx context.Context, address string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, g.noAddress("it makes no request")
	}
	req.Header.Set("Content-Type", "application/json")
	if g.Key != "" {
		req.Header.Set("X-Goog-Api-Key", g.Key)
	}
	for name, value := range g.Headers {
		req.Header.Set(name, value)
	}
	return g.Client().Do(req)
}

func (g gemini) body(r llm.Request, turns []llm.Turn) ([]byte, error) {
	request, err := g.request(r, turns)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(request)
	if err != nil {
		return nil, &llm.Error{Kind: contract.KindModelRequest, Message: "the request cannot be written as JSON"}
	}
	return body, nil
}
