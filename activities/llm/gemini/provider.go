package gemini

import (
	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/workflows/contract"
)

const baseVariable = "GEMINI_BASE_URL"

// Provider returns Google.
func Provider() llm.Provider {
	return llm.Provider{
		Format: generate,
		Name:   contract.ProviderGoogle, BaseVariable: baseVariable,
		BaseURL:     "https://generativelanguage.googleapis.com/",
		KeyVariable: contract.ProviderGoogle.KeyVariable(),
	}
}
