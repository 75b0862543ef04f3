package llm

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"agent-stop-and-go/workflows/contract"
)

// endpoint is a model at its provider: all that a call needs besides the request.
type endpoint struct {
	Entry
	provider provider
	key      string
	baseURL  string
	client   *http.Client
}

// endpoint is where a model is reached as the variables say now.
func (r *Router) endpoint(entry Entry) (endpoint, error) {
	if entry.Problem != "" {
		return endpoint{}, &Error{Kind: contract.KindModelAuth, Message: entry.Problem}
	}
	p, ok := lookup(entry.Provider)
	if !ok {
		return endpoint{}, noWay(entry.Provider)
	}
	p.keyVar = cmp.Or(entry.KeyVariable, p.keyVar)
	key := ""
	if p.keyVar != "" {
		if key = strings.TrimSpace(r.options.Getenv(p.keyVar)); key == "" {
			return endpoint{}, &Error{
				Kind:    contract.KindModelAuth,
				Message: fmt.Sprintf("%s needs an API key: set the environment variable %s", p.name, p.keyVar),
			}
		}
	}
	base := p.address(entry.BaseURL, r.options.Getenv, r.options.BaseURL)
	if u, err := url.Parse(base); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return endpoint{}, &Error{
			Kind:    contract.KindModelRequest,
			Message: fmt.Sprintf("the base URL of %s is not an http or https address (see %s and base_url)", p.name, cmp.Or(p.baseVar, "models")),
		}
	}
	return endpoint{Entry: entry, provider: p, key: key, baseURL: base, client: r.client}, nil
}

// headers are those of every request to the model, besides the ones of its wire
// format. Those of its entry win.
func (e endpoint) headers() map[string]string {
	out := map[string]string{"User-Agent": "agent-stop-and-go"}
	for name, value := range e.provider.headers {
		out[name] = value
	}
	for name, value := range e.Headers {
		out[name] = value
	}
	return out
}

// replyLimit is how many tokens a reply may have; 0 leaves it to the provider.
func (e endpoint) replyLimit(r Request) int {
	if r.MaxTokens > 0 && e.MaxTokens > 0 {
		return min(r.MaxTokens, e.MaxTokens)
	}
	return max(r.MaxTokens, e.MaxTokens)
}

// native is a turn in the provider's own form, if it gave one and is asked again.
func (e endpoint) native(t Turn) *Native {
	if t.Native == nil || t.Native.Provider != e.Provider || t.Native.Model != e.Model {
		return nil
	}
	return t.Native
}

// generate makes one call within the model's time, and tells whose limit ended it.
func (r *Router) generate(ctx context.Context, e endpoint, req Request) (Reply, error) {
	limit := cmp.Or(e.Timeout, r.options.Timeout)
	call, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	m := e.mask(req.Secrets...)
	deltas, end := masked(m, req.Deltas)
	req.Deltas = deltas
	reply, err := e.provider.generate(call, e, req)
	if err == nil {
		end()
		reply = hidden(m, e.textCalls(reply, req.Tools))
		reply.Usage.Calls, reply.Usage.Cost = 1, e.Price.cost(reply.Usage)
		return reply, nil
	}
	if call.Err() == nil {
		return reply, err
	}
	failed := &Error{Kind: contract.KindModelUnavailable, Err: call.Err()}
	if failed.Message = fmt.Sprintf("%s did not answer within %s", e.provider.name, limit); ctx.Err() != nil {
		failed.Err, failed.Message = ctx.Err(), fmt.Sprintf("the call to %s was cancelled", e.provider.name)
	}
	return Reply{}, failed
}
