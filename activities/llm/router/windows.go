package router

import (
	"regexp"

	"agent-stop-and-go/workflows/contract"
)

// windows are the context windows that providers publish. For other models the window is
// unknown unless their entry has a context_window.
var windows = []struct {
	provider contract.Provider
	model    *regexp.Regexp
	tokens   int
}{
	{contract.ProviderGoogle, regexp.MustCompile(`^(models/)?gemini-([2-9]|flash|pro)`), 1_048_576},
	{contract.ProviderAnthropic, regexp.MustCompile(`^claude-`), 200_000},
	{contract.ProviderOpenAI, regexp.MustCompile(`^gpt-4\.1`), 1_047_576},
	{contract.ProviderOpenAI, regexp.MustCompile(`^gpt-5`), 272_000},
	{contract.ProviderOpenAI, regexp.MustCompile(`^o[1-9]([-.]|$)`), 200_000},
	{contract.ProviderOpenAI, regexp.MustCompile(`^gpt-4o|^gpt-4-turbo`), 128_000},
	{contract.ProviderMistral, regexp.MustCompile(`^(mistral-(large|medium|small)|codestral|ministral|magistral)-`), 128_000},
}

func knownWindow(p contract.Provider, model string) int {
	for _, w := range windows {
		if w.provider == p && w.model.MatchString(model) {
			return w.tokens
		}
	}
	return 0
}
