package modelname_test

import (
	"strings"
	"testing"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/modelname"
)

func TestParseReadsAllThreeForms(t *testing.T) {
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

		{"gpt-4o", contract.ProviderOpenAI, "gpt-4o"},
		{"chatgpt-4o-latest", contract.ProviderOpenAI, "chatgpt-4o-latest"},
		{"o1", contract.ProviderOpenAI, "o1"},
		{"o3", contract.ProviderOpenAI, "o3"},
		{"o3-mini", contract.ProviderOpenAI, "o3-mini"},
		{"o4-mini", contract.ProviderOpenAI, "o4-mini"},
		{"openai-o3", contract.ProviderOpenAI, "o3"},
		{"mistral-large-latest", contract.ProviderMistral, "mistral-large-latest"},
		{"mistral-codestral-latest", contract.ProviderMistral, "codestral-latest"},
		{"magistral-medium-2506", contract.ProviderMistral, "magistral-medium-2506"},
		{"codestral-latest", contract.ProviderMistral, "codestral-latest"},
		{"ministral-8b-latest", contract.ProviderMistral, "ministral-8b-latest"},
		{"devstral-small-2505", contract.ProviderMistral, "devstral-small-2505"},
		{"pixtral-12b", contract.ProviderMistral, "pixtral-12b"},
		{"open-mistral-nemo", contract.ProviderMistral, "open-mistral-nemo"},
		{"ollama-llama3", contract.ProviderOllama, "llama3"},
		{"openrouter-gpt-4o", contract.ProviderOpenRouter, "gpt-4o"},
	}
	for _, tt := range tests {
		p, model, err := modelname.Parse(tt.name)
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

		"gemini":   "no provider is known by this name; write provider:model, where the provider is google, anthropic,",
		"claude":   "or a name that begins with gemini-, claude-, gpt-, chatgpt-, o1, o3, o4, mistral-,",
		"gpt-":     "no provider is known",
		"gpt4":     "no provider is known",
		"o10":      "no provider is known",
		"o3mini":   "no provider is known",
		"mistral-": "no provider is known",
		"openai-":  "no provider is known",
		"llama3.2": "no provider is known",
		"GPT-4o":   "no provider is known",
	}
	for name, want := range tests {
		p, model, err := modelname.Parse(name)
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
		if _, _, err := modelname.Parse(name); err != nil {
			t.Error(err)
		}
	}
}
