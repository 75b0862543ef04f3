package router

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
)

// endpoint returns the endpoint of a model, from the present values of the variables.
func (r *Router) endpoint(entry llm.Entry) (llm.Provider, llm.Endpoint, error) {
	if entry.Problem != "" {
		return llm.Provider{}, llm.Endpoint{}, &llm.Error{Kind: contract.KindModelAuth, Message: entry.Problem}
	}
	p, ok := lookup(entry.Provider)
	if !ok {
		return p, llm.Endpoint{}, badRequest("no way to reach provider %q", entry.Provider)
	}
	entry.KeyVariable = cmp.Or(entry.KeyVariable, p.KeyVariable)
	entry.Timeout = cmp.Or(entry.Timeout, r.options.Timeout)
	key, err := r.key(entry)
	if err != nil {
		return p, llm.Endpoint{}, err
	}
	base := address(p, entry.BaseURL, r.options.Getenv, r.options.BaseURL)
	if u, err := url.Parse(base); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return p, llm.Endpoint{}, badRequest("the base URL of %s is not an http or https address (see %s and base_url)", p.Name, cmp.Or(p.BaseVariable, "models"))
	}
	return p, llm.Endpoint{Entry: entry, Key: key, Address: base, Headers: headers(p, entry), HTTP: r.client}, nil
}

// key returns the key of a model; empty if none is needed.
func (r *Router) key(entry llm.Entry) (string, error) {
	if entry.KeyVariable == "" {
		return "", nil
	}
	if key := strings.TrimSpace(r.options.Getenv(entry.KeyVariable)); key != "" {
		return key, nil
	}
	return "", &llm.Error{
		Kind:    contract.KindModelAuth,
		Message: fmt.Sprintf("%s needs an API key: set the environment variable %s", entry.Provider, entry.KeyVariable),
	}
}

func headers(p llm.Provider, entry llm.Entry) map[string]string {
	out := map[string]string{"User-Agent": "agent-stop-and-go"}
	maps.Copy(out, p.Headers)
	maps.Copy(out, entry.Headers)
	return out
}

func badRequest(format string, args ...any) *llm.Error {
	return &llm.Error{Kind: contract.KindModelRequest, Message: llm.OneLine(fmt.Sprintf(format, args...))}
}

func newHTTPClient(connect time.Duration) *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: connect, KeepAlive: 30 * time.Second}).DialContext
	t.TLSHandshakeTimeout = connect
	t.MaxIdleConns = 0 // no limit: worker threads share few hosts
	t.MaxIdleConnsPerHost = 256
	return &http.Client{Transport: t}
}
