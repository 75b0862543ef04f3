package llm

import (
	"context"

	"agent-stop-and-go/workflows/contract"
)

// Provider describes how a provider differs from others.
type Provider struct {
	Name    contract.Provider
	BaseURL string
	// BaseVariable is the environment variable that overrides BaseURL. KeyVariable is the
	// one with the key; if it is empty, no key is needed.
	BaseVariable, KeyVariable string
	Headers                   map[string]string // sent with every request
	Format                    Format
}

// Format makes one call in a wire format, without retries. Every error is an *Error without
// secrets, made by the methods of Endpoint.
type Format func(ctx context.Context, e Endpoint, r Request) (Reply, error)
