package openai

import (
	"regexp"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
)

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

// Providers are those that speak chat completions.
func Providers() []llm.Provider {
	return []llm.Provider{
		{
			Format: dialect{completionLimit: true, schemas: true}.generate,
			Name:   contract.ProviderOpenAI, BaseVariable: "OPENAI_BASE_URL",
			BaseURL:     "https://api.openai.com/v1/",
			KeyVariable: contract.ProviderOpenAI.KeyVariable(),
			Images:      seesImages,
		},
		{
			Format: dialect{bridge: true, shortIDs: true, ownUsage: true, schemas: true}.generate,
			Name:   contract.ProviderMistral, BaseVariable: "MISTRAL_BASE_URL",
			BaseURL:     "https://api.mistral.ai/v1/",
			KeyVariable: contract.ProviderMistral.KeyVariable(),
		},
		{
			Format: dialect{schemas: true}.generate,
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

var (
	imageModels = regexp.MustCompile(`^(gpt-4o|gpt-4\.1|gpt-5|o[1-9])([-.]|$)`)
	// textModels are the ones among these that are for something else.
	textModels = regexp.MustCompile(`^o1-(mini|preview)|^o3-mini|audio|realtime|transcribe|tts|-search-|embedding|-live`)
)

func seesImages(model string) bool {
	return imageModels.MatchString(model) && !textModels.MatchString(model)
}
