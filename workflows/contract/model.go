package contract

import "time"

// Provider names a model provider.
type Provider string

// The providers. Demo is the offline replacement.
const (
	ProviderGoogle     Provider = "google"
	ProviderAnthropic  Provider = "anthropic"
	ProviderOpenAI     Provider = "openai"
	ProviderMistral    Provider = "mistral"
	ProviderOllama     Provider = "ollama"
	ProviderOpenRouter Provider = "openrouter"
	ProviderDemo       Provider = "demo"
	// ProviderCompatible is any server with OpenAI's chat completions API. It is for the
	// registry of models only, which has the server's address.
	ProviderCompatible Provider = "compatible"
)

// Providers lists the providers that a model's name may have, in the order of help texts.
func Providers() []Provider {
	return []Provider{
		ProviderGoogle, ProviderAnthropic, ProviderOpenAI, ProviderMistral,
		ProviderOllama, ProviderOpenRouter, ProviderDemo,
	}
}

// Model names of the offline stand-in and the default.
const (
	DemoModel    = "demo:rules"
	DefaultModel = "google:gemini-2.5-flash"
)

// ModelRoute says how a model is called.
type ModelRoute struct {
	Name string `json:"name"` // as nodes name it
	// Fallback names the models that are called instead if it fails, in this order.
	Fallback []string `json:"fallback,omitempty"`
	// Timeout limits one call; zero is DefaultModelTimeout.
	Timeout time.Duration `json:"timeout,omitempty"`
}

// DefaultModelTimeout limits a call of a model without a configured timeout.
const DefaultModelTimeout = 60 * time.Second

// KeyVariable returns the environment variable with the provider's API key; empty for providers
// that need none.
func (p Provider) KeyVariable() string {
	switch p {
	case ProviderGoogle:
		return "GEMINI_API_KEY"
	case ProviderAnthropic:
		return "ANTHROPIC_API_KEY"
	case ProviderOpenAI:
		return "OPENAI_API_KEY"
	case ProviderMistral:
		return "MISTRAL_API_KEY"
	case ProviderOpenRouter:
		return "OPENROUTER_API_KEY"
	}
	return ""
}
