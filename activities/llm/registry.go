package llm

import (
	"context"
	"strings"

	"agent-stop-and-go/workflows/contract"
)

// provider is all that tells one provider from another.
type provider struct {
	name    contract.Provider
	baseURL string
	baseVar string // environment variable that overrides baseURL
	keyVar  string // empty: no key needed
	headers map[string]string
	// generate speaks the provider's wire format.
	generate format
	dialect  dialect // of chat completions
	// images reports whether a model, by the provider's own name, is known to look
	// at images. Nil knows of none.
	images func(model string) bool
}

// format makes one call in a wire format. It retries nothing. Every error is an
// *Error without secrets, which the methods of endpoint make.
type format func(ctx context.Context, e endpoint, r Request) (Reply, error)

// dialect is how a provider's chat completions differ from OpenAI's.
type dialect struct {
	// bridge: an assistant message must stand between a tool's result and the
	// next user message.
	bridge bool
	// shortIDs: IDs of calls must be nine letters or digits.
	shortIDs bool
	// completionLimit: the reply's limit is max_completion_tokens. Models of
	// OpenAI refuse max_tokens, which is all that others know.
	completionLimit bool
	// ownUsage: streams end with their usage without being asked; being asked is an
	// error.
	ownUsage bool
	// schemas: the text of a reply can be held to a JSON Schema.
	schemas bool
}

// registry lists the providers that are reached over the network.
var registry = []provider{
	{
		generate: geminiContent,
		name:     contract.ProviderGoogle, baseVar: "GEMINI_BASE_URL",
		baseURL: "https://generativelanguage.googleapis.com/",
		keyVar:  contract.ProviderGoogle.KeyVariable(),
		images:  geminiImages,
	},
	{
		generate: anthropicMessages,
		name:     contract.ProviderAnthropic, baseVar: "ANTHROPIC_BASE_URL",
		baseURL: "https://api.anthropic.com/",
		keyVar:  contract.ProviderAnthropic.KeyVariable(),
		images:  claudeImages,
	},
	{
		generate: chatCompletions,
		name:     contract.ProviderOpenAI, baseVar: "OPENAI_BASE_URL",
		baseURL: "https://api.openai.com/v1/",
		keyVar:  contract.ProviderOpenAI.KeyVariable(),
		images:  openAIImages,
		dialect: dialect{completionLimit: true, schemas: true},
	},
	{
		generate: chatCompletions,
		name:     contract.ProviderMistral, baseVar: "MISTRAL_BASE_URL",
		baseURL: "https://api.mistral.ai/v1/",
		keyVar:  contract.ProviderMistral.KeyVariable(),
		dialect: dialect{bridge: true, shortIDs: true, ownUsage: true, schemas: true},
	},
	{
		generate: chatCompletions,
		name:     contract.ProviderOllama, baseVar: "OLLAMA_BASE_URL",
		baseURL: "http://localhost:11434/v1/",
		dialect: dialect{schemas: true},
	},
	{
		generate: chatCompletions,
		name:     contract.ProviderOpenRouter, baseVar: "OPENROUTER_BASE_URL",
		baseURL: "https://openrouter.ai/api/v1/",
		keyVar:  contract.ProviderOpenRouter.KeyVariable(),
		dialect: dialect{schemas: true},
		headers: map[string]string{
			"HTTP-Referer": "https://github.com/agentic-platform",
			"X-Title":      "Agent Stop and Go",
		},
	},
	{
		generate: chatCompletions,
		name:     contract.ProviderCompatible,
	},
}

func lookup(name contract.Provider) (provider, bool) {
	for _, p := range registry {
		if p.name == name {
			return p, true
		}
	}
	return provider{}, false
}

// address is where a model is reached: what its entry says, else the environment,
// the configuration, and the provider's own address, in this order.
func (p provider) address(entry string, getenv func(string) string, configured string) string {
	fromEnvironment := ""
	if p.baseVar != "" {
		fromEnvironment = getenv(p.baseVar)
	}
	for _, url := range []string{entry, fromEnvironment, configured} {
		if url = strings.TrimSpace(url); url != "" {
			return url
		}
	}
	return p.baseURL
}
