package llm

import (
	"context"

	"agent-stop-and-go/workflows/contract"
)

// Provider is the differences of a provider.
type Provider struct {
	Name    contract.Provider
	BaseURL string
	// BaseVariable is the environment variable that overrides BaseURL, KeyVariable
	// the one with the key. Without a KeyVariable no key is needed.
	BaseVariable, KeyVariable string
	Headers                   map[string]string // of every request
	Format                    Format
	// Images reports whether a model, by the provider's own name, is known to look
	// at images. Nil knows of none.
	Images func(model string) bool
}

// Format makes one call in a wire format, without retries. Every error is an *Error without
// secrets, made by the methods of Endpoint.
type Format func(ctx context.Context, e Endpoint, r Request) (Reply, error)
