package llm

import (
	"math"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/modality"
)

// Entry is a model with its own settings, under the name that requests use.
type Entry struct {
	Name     string
	Provider contract.Provider
	Model    string // the provider's own name
	// BaseURL replaces the provider's address, KeyVariable the environment variable
	// with its key.
	BaseURL, KeyVariable string
	Headers              map[string]string
	// Secrets are header values that must not appear in errors or replies.
	Secrets     []string
	Temperature *float64 // nil leaves it to the provider
	MaxTokens   int      // bounds a reply; 0 leaves it to the provider
	// ContextWindow is the maximum number of tokens of a request and its reply together.
	// If it is 0, the model's known window applies.
	ContextWindow int
	Timeout       time.Duration // of a call; 0 means the router's
	TotalTimeout  time.Duration // of all attempts at a reply; 0 means twice Timeout
	// Images and PDF say whether the model takes such files; nil is what is known of the model.
	Images, PDF *bool
	// TextToolCalls treats calls that the model writes into its text as calls.
	TextToolCalls bool
	Price         Price
	// Problem describes what is wrong with the settings. Unless it is empty, the model
	// is not called.
	Problem string
}

// Price is the price of a million tokens. Cached is the price of input tokens that the provider
// has cached; without it they cost as much as other input tokens.
type Price struct {
	Input, Output float64
	Cached        *float64
}

// cost returns the cost of a call in billionths of the price's currency. The input tokens
// include the cached ones.
func (p Price) cost(u contract.Usage) int64 {
	cached := p.Input
	if p.Cached != nil {
		cached = *p.Cached
	}
	fresh := max(0, u.InputTokens-u.CachedTokens)
	perMillion := float64(fresh)*p.Input + float64(u.CachedTokens)*cached + float64(u.OutputTokens)*p.Output
	return int64(math.Round(perMillion * 1e9 / 1e6))
}

// Facts are properties of a model that are known without calling it.
type Facts struct {
	Takes modality.Set // what the model takes besides text
	// Window is the maximum number of tokens of a request and its reply together, Reply
	// that of the reply alone. 0 means unknown.
	Window, Reply int
	// TotalTimeout bounds all attempts at a reply together. 0 means no bound.
	TotalTimeout time.Duration
}
