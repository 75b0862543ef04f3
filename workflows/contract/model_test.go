package contract_test

import (
	"strings"
	"testing"

	"agent-stop-and-go/workflows/contract"
)

func TestParseModelReadsAllThreeForms(t *testing.T) {
	tests := []struct {
		name     string
		provider contract.Provider
		model    string
	}{
		{"google:gemini-2.5-flash", contract.ProviderGoogle, "gemini-2.5-flash"},
		{"openai:gpt-4o", contract.ProviderOpenAI, "gpt-4o"},
		{"ollama:llama3:8b", contract.ProviderOllama, "llama3:8b"},
		{"openrouter:meta/llama-3:free", contract.ProviderOpenRouter, "meta/llama-3:free"},
		{"anthropic:claude-sonnet-4-5", contract.ProviderAnthropic, "claude-sonnet-4-5"},
		{"demo:rules", contract.ProviderDemo, "rules"},

		{"openai-gpt-4o", contract.ProviderOpenAI, "gpt-4o"},
		{"google-gemini-2.5-pro", contract.ProviderGoogle, "gemini-2.5-pro"},
		{"anthropic-claude-sonnet-4-5", contract.ProviderAnthropic, "claude-sonnet-4-5"},
		{"mistral-mistral-large", contract.ProviderMistral, "mistral-large"},
		{"demo-rules", contract.ProviderDemo, "rules"},

		{"claude-sonnet-4-5", contract.ProviderAnthropic, "claude-sonnet-4-5"},
		{"gemini-2.5-flash", contract.ProviderGoogle, "gemini-2.5-flash"},
		{"gemini", contract.ProviderGoogle, "gemini"},
		{"claude", contract.ProviderGoogle, "claude"},
	}
	for _, tt := range tests {
		p, model, err := contract.ParseModel(tt.name)
		if err != nil || p != tt.provider || model != tt.model {
			t.Errorf("ParseModel(%q) = %q, %q, %v; expected %q, %q", tt.name, p, model, err, tt.provider, tt.model)
		}
	}
}

func TestParseModelSaysWhatIsWrong(t *testing.T) {
	tests := map[string]string{
		"":               "must be a name like",
		" ":              "without spaces",
		" gpt":           "without spaces",
		"gpt 4":          "without spaces",
		"gpt\r4":         "without spaces",
		"gpt\u00a04":     "without spaces",
		"openai:gpt\n":   "without spaces",
		"openai:":        "nothing after the colon",
		":gpt-4o":        `unknown provider ""`,
		"openia:gpt-4o":  "providers are google, anthropic, openai, mistral, ollama, openrouter, demo",
		"OpenAI:gpt-4o":  `unknown provider "OpenAI"`,
		"demo:gpt-4o":    `the only demo model is "demo:rules"`,
		"demo-something": `the only demo model is "demo:rules"`,
	}
	for name, want := range tests {
		p, model, err := contract.ParseModel(name)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseModel(%q) = %q, %q, %v; expected an error with %q", name, p, model, err, want)
		}
		if p != "" || model != "" {
			t.Errorf("ParseModel(%q) = %q, %q beside the error", name, p, model)
		}
	}
}

func TestTheNamesWeShipAreGood(t *testing.T) {
	for _, name := range []string{contract.DefaultModel, contract.DemoModel} {
		if _, _, err := contract.ParseModel(name); err != nil {
			t.Error(err)
		}
	}
}

func TestOnlyLocalProvidersNeedNoKey(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range contract.Providers() {
		v := p.KeyVariable()
		if free := p == contract.ProviderOllama || p == contract.ProviderDemo; free != (v == "") {
			t.Errorf("%s: key variable %q", p, v)
		}
		if v != "" && seen[v] {
			t.Errorf("%s shares its key variable with another provider", p)
		}
		seen[v] = true
	}
}
