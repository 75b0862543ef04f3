package contract

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Provider names a model provider.
type Provider string

// The providers. Demo is the offline stand-in.
const (
	ProviderGoogle     Provider = "google"
	ProviderAnthropic  Provider = "anthropic"
	ProviderOpenAI     Provider = "openai"
	ProviderMistral    Provider = "mistral"
	ProviderOllama     Provider = "ollama"
	ProviderOpenRouter Provider = "openrouter"
	ProviderDemo       Provider = "demo"
	// ProviderCompatible is any server that speaks OpenAI's chat completions. It is
	// for the registry of models only, which says where the server is.
	ProviderCompatible Provider = "compatible"
)

// Providers lists the providers that a model's name may have, in the order help
// texts name them.
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

// ModelRoute is how a model is called.
type ModelRoute struct {
	Name string `json:"name"` // as nodes name it
	// Fallback names the models that are asked in its place, in this order, when it
	// fails.
	Fallback []string `json:"fallback,omitempty"`
	// Timeout bounds one call; zero is DefaultModelTimeout.
	Timeout time.Duration `json:"timeout,omitempty"`
}

// DefaultModelTimeout bounds a call of a model that has no time of its own.
const DefaultModelTimeout = 60 * time.Second

// ParseModel reads a model name in any of its three forms: "provider:model",
// "provider-model" (openai-gpt-4o), and the bare names "claude-…" (Anthropic)
// and anything else (Gemini).
func ParseModel(name string) (Provider, string, error) {
	if name == "" || strings.ContainsFunc(name, unicode.IsSpace) {
		return "", "", fmt.Errorf("model %q: must be a name like %q, without spaces", name, DefaultModel)
	}
	if p, model, ok := strings.Cut(name, ":"); ok {
		return parseQualified(name, p, model)
	}
	if strings.HasPrefix(name, "claude-") {
		return ProviderAnthropic, name, nil
	}
	if p, model, ok := strings.Cut(name, "-"); ok && slices.Contains(Providers(), Provider(p)) && model != "" {
		return known(Provider(p), model, name)
	}
	return ProviderGoogle, name, nil
}

func parseQualified(name, p, model string) (Provider, string, error) {
	if !slices.Contains(Providers(), Provider(p)) {
		return "", "", fmt.Errorf("model %q: unknown provider %q; providers are %s", name, p, providerList())
	}
	if model == "" {
		return "", "", fmt.Errorf("model %q: nothing after the colon; expected %q", name, p+":MODEL")
	}
	return known(Provider(p), model, name)
}

func known(p Provider, model, name string) (Provider, string, error) {
	if p == ProviderDemo && model != "rules" {
		return "", "", fmt.Errorf("model %q: the only demo model is %q", name, DemoModel)
	}
	return p, model, nil
}

func providerList() string {
	var names []string
	for _, p := range Providers() {
		names = append(names, string(p))
	}
	return strings.Join(names, ", ")
}

// KeyVariable is the environment variable with the provider's API key; empty
// for providers that need none.
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
