package openai

import (
	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
)

// dialect describes how a provider's chat completions differ from OpenAI's.
type dialect struct {
	// bridge requires an assistant message between a tool's result and the next user
	// message.
	bridge bool
	// shortIDs requires call IDs of nine letters or digits.
	shortIDs bool
	// completionLimit sends the reply's limit as max_completion_tokens. OpenAI's models
	// refuse max_tokens; other providers know nothing else.
	completionLimit bool
	// ownUsage means that streams always end with their usage, and that asking for it is
	// an error.
	ownUsage bool
	// schemas means that the provider can make a reply match a JSON Schema.
	schemas bool
	// namedChoice means that tool_choice may be an object that names a function. Everywhere else
	// it is a word.
	namedChoice bool
	// noChoice means that the provider ignores tool_choice and parallel_tool_calls.
	noChoice bool
}

// Providers returns the providers that speak chat completions.
func Providers() []llm.Provider {
	return []llm.Provider{
		{
			Format: dialect{completionLimit: true, schemas: true, namedChoice: true}.generate,
			Name:   contract.ProviderOpenAI, BaseVariable: "OPENAI_BASE_URL",
			BaseURL:     "https://api.openai.com/v1/",
			KeyVariable: contract.ProviderOpenAI.KeyVariable(),
		},
		{
			Format: dialect{bridge: true, shortIDs: true, ownUsage: true, schemas: true}.generate,
			Name:   contract.ProviderMistral, BaseVariable: "MISTRAL_BASE_URL",
			BaseURL:     "https://api.mistral.ai/v1/",
			KeyVariable: contract.ProviderMistral.KeyVariable(),
		},
		{
			Format: dialect{schemas: true, noChoice: true}.generate,
			Name:   contract.ProviderOllama, BaseVariable: "OLLAMA_BASE_URL",
			BaseURL: "http://localhost:11434/v1/",
		},
		{
			Format: dialect{schemas: true}.generate,
			Name:   contract.ProviderOpenRouter, BaseVariable: "OPENROUTER_BASE_URL",
			BaseURL:     "https://openrouter.ai/api/v1/",
			KeyVariable: contract.ProviderOpenRouter.KeyVariable(),
			Headers: map[string]string{
				"HTTP-Referer": "https://github.com/agentic-platform",
				"X-Title":      "Agent Stop and Go",
			},
		},
		{
			Format: dialect{}.generate,
			Name:   contract.ProviderCompatible,
		},
	}
}
