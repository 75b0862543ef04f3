package anthropic

import (
	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
)

// Provider returns Anthropic.
func Provider() llm.Provider {
	return llm.Provider{
		Format: generate,
		Name:   contract.ProviderAnthropic, BaseVariable: "ANTHROPIC_BASE_URL",
		BaseURL:     "https://api.anthropic.com/",
		KeyVariable: contract.ProviderAnthropic.KeyVariable(),
	}
}
