package llm

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// Options configure a Router. The zero value works, without any key.
type Options struct {
	// Getenv reads keys and address overrides, at every call. Nil knows none.
	Getenv func(string) string
	// BaseURL replaces the address of every provider whose own variable
	// (OPENAI_BASE_URL and so on) is not set.
	BaseURL string
	// HTTPClient replaces the client that ConnectTimeout configures.
	HTTPClient *http.Client
	// Timeout bounds a whole call, 60 s by default; ConnectTimeout the
	// connection and the TLS handshake, 10 s each by default.
	Timeout, ConnectTimeout time.Duration
}

// Router is a Model that calls the provider that a model's name says.
type Router struct {
	options Options
	client  *http.Client
}

// NewRouter returns a Router. It reads no key and opens no connection: what is
// missing is told by the first call that needs it.
func NewRouter(o Options) *Router {
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	if o.Timeout <= 0 {
		o.Timeout = 60 * time.Second
	}
	if o.ConnectTimeout <= 0 {
		o.ConnectTimeout = 10 * time.Second
	}
	client := o.HTTPClient
	if client == nil {
		client = newHTTPClient(o.ConnectTimeout)
	}
	return &Router{options: o, client: client}
}

// Generate implements Model.
func (r *Router) Generate(ctx context.Context, req Request) (Reply, error) {
	name, model, err := contract.ParseModel(req.Model)
	if err != nil {
		return Reply{}, &Error{Kind: contract.KindModelRequest, Message: oneLine(err.Error())}
	}
	if name == contract.ProviderDemo {
		return Demo{}.Generate(ctx, req)
	}
	p, ok := lookup(name)
	if !ok {
		return Reply{}, &Error{Kind: contract.KindModelRequest, Message: fmt.Sprintf("no way to reach provider %q", name)}
	}
	c, err := r.completions(p)
	if err != nil {
		return Reply{}, err
	}
	return r.limited(ctx, c, model, req)
}

// completions is the connection to a provider as its variables say now.
func (r *Router) completions(p provider) (completions, error) {
	key := ""
	if p.keyVar != "" {
		if key = strings.TrimSpace(r.options.Getenv(p.keyVar)); key == "" {
			return completions{}, &Error{
				Kind:    contract.KindModelAuth,
				Message: fmt.Sprintf("%s needs an API key: set the environment variable %s", p.name, p.keyVar),
			}
		}
	}
	base := p.address(r.options.Getenv, r.options.BaseURL)
	if u, err := url.Parse(base); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return completions{}, &Error{
			Kind:    contract.KindModelRequest,
			Message: fmt.Sprintf("the base URL of %s is not an http or https address (see %s and llm.base_url)", p.name, p.baseVar),
		}
	}
	return completions{provider: p, key: key, baseURL: base, client: r.client}, nil
}

// limited bounds a call in time and tells whose limit ended it.
func (r *Router) limited(ctx context.Context, c completions, model string, req Request) (Reply, error) {
	call, cancel := context.WithTimeout(ctx, r.options.Timeout)
	defer cancel()
	reply, err := c.generate(call, model, req)
	if err == nil || call.Err() == nil {
		return reply, err
	}
	e := &Error{Kind: contract.KindModelUnavailable, Err: call.Err()}
	if e.Message = fmt.Sprintf("%s did not answer within %s", c.provider.name, r.options.Timeout); ctx.Err() != nil {
		e.Err, e.Message = ctx.Err(), fmt.Sprintf("the call to %s was cancelled", c.provider.name)
	}
	return Reply{}, e
}
