package router

import (
	"slices"
	"strings"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/llm/anthropic"
	"agent-stop-and-go/activities/llm/gemini"
	"agent-stop-and-go/activities/llm/openai"
	"agent-stop-and-go/workflows/contract"
)

// registry lists the providers that are reached over the network.
var registry = append([]llm.Provider{gemini.Provider(), anthropic.Provider()}, openai.Providers()...)

// lookup returns the provider of a name, and whether there is one.
func lookup(name contract.Provider) (llm.Provider, bool) {
	i := slices.IndexFunc(registry, func(p llm.Provider) bool { return p.Name == name })
	if i < 0 {
		return llm.Provider{}, false
	}
	return registry[i], true
}

// address returns the address of a model: that of its entry, else of the environment, of the
// configuration, or of the provider, in this order.
func address(p llm.Provider, entry string, getenv func(string) string, configured string) string {
	fromEnvironment := ""
	if p.BaseVariable != "" {
		fromEnvironment = getenv(p.BaseVariable)
	}
	for _, url := range []string{entry, fromEnvironment, configured} {
		if url = strings.TrimSpace(url); url != "" {
			return url
		}
	}
	return p.BaseURL
}
