package llm

import (
	"math"
	"time"

	"agent-stop-and-go/workflows/contract"
)

// Entry is a model with its own settings, under the name that requests use.
type Entry struct {
	Name     string
	Provider contract.Provider
	Model    string // by the provider's own name
	// BaseURL replaces the provider's address, KeyVariable the environment variable
	// with its key.
	BaseURL, KeyVariable string
	Headers              map[string]string
	// Secrets are values of headers that neither errors nor replies may show.
	Secrets     []string
	Temperature *float64 // nil leaves it to the provider
	MaxTokens   int      // bounds a reply; 0 leaves it to the provider
	// ContextWindow is how many tokens a request and its reply may have together; 0
	// is what is known of the model.
	ContextWindow int
	Timeout       time.Duration // of a call; 0 is the router's
	TotalTimeout  time.Duration // of all attempts at a reply; 0 is contract.TotalModelTimeout
	// TextToolCalls: calls that the model writes into its text are calls.
	TextToolCalls bool
	Price         Price
	// Problem keeps the model from being called, when it is not empty: what is wrong
	// with its settings.
	Problem string
}

// Price is the price of a million tokens. Cached are input tokens that the provider has cached;
// without a price of their own they cost as much as others.
type Price struct {
	Input, Output float64
	Cached        *float64
}

// cost is the cost of a call in billionths of the price's currency. The input tokens include
// the cached ones.
func (p Price) cost(u contract.Usage) int64 {
	cached := p.Input
	if p.Cached != nil {
		cached = *p.Cached
	}
	fresh := max(0, u.InputTokens-u.CachedTokens)
	perMillion := float64(fresh)*p.Input + float64(u.CachedTokens)*cached + float64(u.OutputTokens)*p.Output
	return int64(math.Round(perMillion * 1e9 / 1e6))
}

// Facts are what is known of a model without calling it.
type Facts struct {
	Images bool // it is known to look at images
	// Window is how many tokens a request and its reply may have together, Reply how
	// many of them a reply may have. 0 is not known.
	Window, Reply int
	// TotalTimeout bounds all attempts at a reply together. 0 is no bound.
	TotalTimeout time.Duration
}
