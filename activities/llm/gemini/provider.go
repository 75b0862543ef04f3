package gemini

import (
	"regexp"

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
		Images:      seesImages,
	}
}

var (
	imageModels = regexp.MustCompile(`^(models/)?gemini-(1\.5|[2-9]|[1-9][0-9]|flash|pro-latest)`)
	// textModels matches the exceptions among these: models that do not accept images.
	textModels = regexp.MustCompile(`audio|realtime|transcribe|tts|-search-|embedding|-live`)
)

func seesImages(model string) bool {
	return imageModels.MatchString(model) && !textModels.MatchString(model)
}
