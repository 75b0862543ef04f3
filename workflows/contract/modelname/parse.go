package modelname

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"agent-stop-and-go/workflows/contract"
)

// families are the prefixes of well-known model names. A prefix that ends with a hyphen must be
// followed by something; the others stand alone or before a hyphen.
var families = []struct {
	provider   contract.Provider
	beginnings []string
}{
	{contract.ProviderGoogle, []string{"gemini-"}},
	{contract.ProviderAnthropic, []string{"claude-"}},
	{contract.ProviderOpenAI, []string{"gpt-", "chatgpt-", "o1", "o3", "o4"}},
	{contract.ProviderMistral, []string{
		"mistral-", "magistral-", "codestral-", "ministral-", "devstral-", "pixtral-", "open-mistral-", "open-mixtral-",
	}},
}

// Parse parses a model name in any of its three forms: "provider:model", "provider-model"
// (openai-gpt-4o), and a bare name with a well-known prefix (claude-…, gpt-…, gemini-…). Any
// other bare name is an error.
func Parse(name string) (contract.Provider, string, error) {
	if name == "" || strings.ContainsFunc(name, unicode.IsSpace) {
		return "", "", fmt.Errorf("model %q: must be a name like %q, without spaces", name, contract.DefaultModel)
	}
	if p, model, ok := strings.Cut(name, ":"); ok {
		return parseQualified(name, p, model)
	}
	if p, model, ok := cutProvider(name); ok {
		return known(p, model, name)
	}
	if p, ok := family(name); ok {
		return p, name, nil
	}
	return "", "", fmt.Errorf("model %q: no provider is known by this name; write provider:model, where the provider is %s, or a name that begins with %s",
		name, oneOf(providerNames()), oneOf(beginnings()))
}

func parseQualified(name, p, model string) (contract.Provider, string, error) {
	if !slices.Contains(contract.Providers(), contract.Provider(p)) {
		return "", "", fmt.Errorf("model %q: unknown provider %q; providers are %s", name, p, strings.Join(providerNames(), ", "))
	}
	if model == "" {
		return "", "", fmt.Errorf("model %q: nothing after the colon; expected %q", name, p+":MODEL")
	}
	return known(contract.Provider(p), model, name)
}

// cutProvider parses "provider-model". The names of Mistral's models begin with its own name:
// there the provider is only a prefix of another name of its models, as in
// mistral-mistral-small.
func cutProvider(name string) (contract.Provider, string, bool) {
	p, model, ok := strings.Cut(name, "-")
	switch {
	case !ok || model == "" || !slices.Contains(contract.Providers(), contract.Provider(p)):
		return "", "", false
	case contract.Provider(p) != contract.ProviderMistral:
		return contract.Provider(p), model, true
	}
	inner, bare := family(model)
	return contract.ProviderMistral, model, bare && inner == contract.ProviderMistral
}

// family returns the provider of a bare name.
func family(name string) (contract.Provider, bool) {
	for _, f := range families {
		if slices.ContainsFunc(f.beginnings, func(b string) bool { return begins(name, b) }) {
			return f.provider, true
		}
	}
	return "", false
}

func begins(name, beginning string) bool {
	rest, ok := strings.CutPrefix(name, beginning)
	if strings.HasSuffix(beginning, "-") {
		return ok && rest != ""
	}
	return ok && (rest == "" || rest[0] == '-')
}

func known(p contract.Provider, model, name string) (contract.Provider, string, error) {
	if p == contract.ProviderDemo && model != "rules" {
		return "", "", fmt.Errorf("model %q: the only demo model is %q", name, contract.DemoModel)
	}
	return p, model, nil
}

func providerNames() []string {
	var names []string
	for _, p := range contract.Providers() {
		names = append(names, string(p))
	}
	return names
}

func beginnings() []string {
	var out []string
	for _, f := range families {
		out = append(out, f.beginnings...)
	}
	return out
}

// oneOf lists alternatives: "a, b or c".
func oneOf(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
