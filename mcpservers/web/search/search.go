package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"agent-stop-and-go/mcpservers/hosting/excerpt"
)

// Providers, as written in files and flags.
const (
	Google     = "google"
	Tavily     = "tavily"
	XAI        = "xai"
	DuckDuckGo = "duckduckgo"
	SearXNG    = "searxng"
)

// Providers returns all providers, in the order in which Default lists them.
func Providers() []string { return []string{Google, Tavily, XAI, SearXNG, DuckDuckGo} }

// Config is a provider, and how it is reached.
type Config struct {
	Provider string `yaml:"provider"`
	// URL is the address of the API; "" for that of the provider. SearXNG has none: it is in
	// SEARXNG_URL otherwise.
	URL string `yaml:"url"`
	// KeyEnv names the environment variable with the key; "" for that of the provider.
	KeyEnv string `yaml:"key_env"`
	// Model is that of google and xai.
	Model string `yaml:"model"`
	// Depth is that of tavily: basic or advanced, which costs twice as much.
	Depth string `yaml:"depth"`
}

// Hit is a page that was found.
type Hit struct {
	Title   string `json:"title"`
	URL     string `json:"url"`
	Snippet string `json:"snippet,omitempty"`
}

// Results are what a provider answers.
type Results struct {
	Answer  string   // of models and of some engines, "" otherwise
	Hits    []Hit    // best first
	Queries []string // what a model searched for
}

// Engine is a search engine.
type Engine struct {
	Name string
	ask  func(ctx context.Context, query string, most int) (Results, error)
}

// defaults are the address, the key's variables and the model of a provider.
var defaults = map[string]struct {
	url, model string
	keys       []string
}{
	Google:     {"https://generativelanguage.googleapis.com", "gemini-2.5-flash", []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}},
	Tavily:     {"https://api.tavily.com", "", []string{"TAVILY_API_KEY"}},
	XAI:        {"https://api.x.ai", "grok-4-1-fast", []string{"XAI_API_KEY"}},
	SearXNG:    {},
	DuckDuckGo: {"https://html.duckduckgo.com/html/", "", nil},
}

// urlEnv has the address of an instance of SearXNG.
const urlEnv = "SEARXNG_URL"

// Validate reports what is wrong with a configuration by itself.
func (c Config) Validate() error {
	d, ok := defaults[c.Provider]
	u, err := url.Parse(c.URL)
	switch {
	case !ok:
		return fmt.Errorf("provider %q is unknown: use one of %s", c.Provider, strings.Join(Providers(), ", "))
	case c.URL != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != ""):
		return fmt.Errorf("url of %s must be http://HOST or https://HOST, with a path if need be", c.Provider)
	case c.KeyEnv != "" && d.keys == nil:
		return fmt.Errorf("%s has no key: leave out key_env", c.Provider)
	case c.Model != "" && d.model == "":
		return fmt.Errorf("%s has no model: leave out model", c.Provider)
	case c.Depth != "" && c.Provider != Tavily, !slices.Contains([]string{"", "basic", "advanced"}, c.Depth):
		return errors.New("depth is for tavily: basic or advanced")
	}
	return nil
}

// Default returns the providers whose keys or addresses are in the environment, and DuckDuckGo if there
// are none.
func Default(getenv func(string) string) (list []Config) {
	for _, name := range Providers() {
		keys := defaults[name].keys
		if name == SearXNG {
			keys = []string{urlEnv}
		}
		if slices.ContainsFunc(keys, func(key string) bool { return getenv(key) != "" }) {
			list = append(list, Config{Provider: name})
		}
	}
	if len(list) == 0 {
		return []Config{{Provider: DuckDuckGo}}
	}
	return list
}

// New returns a provider. client sends its requests.
func New(c Config, getenv func(string) string, client *http.Client) (*Engine, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	d := defaults[c.Provider]
	key, err := c.key(d.keys, getenv)
	if err != nil {
		return nil, err
	}
	base := cmp.Or(c.URL, d.url)
	if c.Provider == SearXNG && base == "" {
		base = getenv(urlEnv)
		if err := (Config{Provider: SearXNG, URL: base}).Validate(); err != nil || base == "" {
			return nil, fmt.Errorf("searxng: set url, or the environment variable %s, to the address of an instance", urlEnv)
		}
	}
	own := *client
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	a := api{name: c.Provider, base: strings.TrimSuffix(base, "/"), key: key, model: cmp.Or(c.Model, d.model), depth: cmp.Or(c.Depth, "basic"), client: &own}
	ask := map[string]func(context.Context, string, int) (Results, error){
		Google: a.google, Tavily: a.tavily, XAI: a.xai, SearXNG: a.searxng, DuckDuckGo: a.duckduckgo,
	}
	return &Engine{c.Provider, ask[c.Provider]}, nil
}

func (c Config) key(names []string, getenv func(string) string) (string, error) {
	if c.KeyEnv != "" {
		names = []string{c.KeyEnv}
	}
	for _, name := range names {
		if key := strings.TrimSpace(getenv(name)); key != "" {
			return key, nil
		}
	}
	if len(names) > 0 {
		return "", fmt.Errorf("%s: environment variable %s is empty: put the key there", c.Provider, names[0])
	}
	return "", nil
}

const (
	maxSnippet = 1000 // characters
	maxTitle   = 300
	maxAnswer  = 8000
)

// Search returns at most most hits, each page once.
func (e *Engine) Search(ctx context.Context, query string, most int) (Results, error) {
	found, err := e.ask(ctx, query, most)
	if err != nil {
		return Results{}, fmt.Errorf("%s: %w", e.Name, err)
	}
	hits := []Hit{}
	seen := map[string]bool{}
	for _, h := range found.Hits {
		if u, err := url.Parse(h.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || seen[h.URL] || len(hits) == most {
			continue
		}
		seen[h.URL] = true
		hits = append(hits, Hit{cmp.Or(excerpt.Line(h.Title, maxTitle), h.URL), h.URL, excerpt.Line(h.Snippet, maxSnippet)})
	}
	answer, _ := excerpt.Bytes([]byte(strings.TrimSpace(found.Answer)), maxAnswer)
	return Results{answer, hits, found.Queries}, nil
}
