package router

import (
	"context"
	"net/http"
	"time"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/llm/demo"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/telemetry"
)

// Options configure a Router. The zero value works, without any key.
type Options struct {
	// Getenv reads keys and address overrides, at every call. Nil means that there are none.
	Getenv func(string) string
	// BaseURL replaces the address of every provider whose own variable
	// (OPENAI_BASE_URL and so on) is not set.
	BaseURL string
	// Models are the models with their own settings. Their names take precedence over all
	// others.
	Models []llm.Entry
	// HTTPClient replaces the client that ConnectTimeout configures.
	HTTPClient *http.Client
	// Timeout bounds a whole call, 60 s by default; ConnectTimeout the
	// connection and the TLS handshake, 10 s each by default.
	Timeout, ConnectTimeout time.Duration
}

// Router is an llm.Model that calls the provider of the model's name.
type Router struct {
	options Options
	client  *http.Client
}

// New returns a Router. It reads no key and opens no connection: a missing key is reported by
// the first call that needs it.
func New(o Options) *Router {
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

// Generate implements llm.Model.
func (r *Router) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	entry, err := r.entry(req.Model)
	if err != nil {
		return llm.Reply{}, err
	}
	ctx, span := telemetry.StartChat(ctx, entry.Provider, req.Model)
	m := measure(&req)
	reply, err := r.call(ctx, entry, req)
	m.record(ctx, entry, reply, err)
	span.End(failureOf(err))
	return reply, err
}

func (r *Router) call(ctx context.Context, entry llm.Entry, req llm.Request) (llm.Reply, error) {
	if entry.Provider == contract.ProviderDemo {
		return demo.Model{}.Generate(ctx, req)
	}
	p, e, err := r.endpoint(entry)
	if err != nil {
		return llm.Reply{}, err
	}
	req.Media = llm.Taken(req.Media, takes(entry))
	return e.Generate(ctx, p.Format, req)
}
