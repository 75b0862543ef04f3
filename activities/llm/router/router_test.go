package router_test

import (
	"strings"
	"testing"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/llm/llmtest"
	"agent-stop-and-go/activities/llm/llmtest/sample"
	"agent-stop-and-go/activities/llm/router"
	"agent-stop-and-go/workflows/contract"
)

func TestMissingKeyIsToldByTheFirstCall(t *testing.T) {
	s, _ := sample.NewServer(t)
	router := router.New(router.Options{BaseURL: s.URL(), Getenv: func(name string) string {
		return map[string]string{"MISTRAL_API_KEY": " \n"}[name]
	}})
	for model, variable := range map[string]string{
		"gemini-2.5-flash": "GEMINI_API_KEY", "claude-sonnet-4-5": "ANTHROPIC_API_KEY", "openai-gpt-4o": "OPENAI_API_KEY",
		"mistral:large": "MISTRAL_API_KEY", "openrouter:x/y": "OPENROUTER_API_KEY",
	} {
		if e := sample.Failure(t, router, model); e.Kind != contract.KindModelAuth || !strings.Contains(e.Message, variable) {
			t.Errorf("%s: error = %s, %s", model, e.Kind, e.Message)
		}
	}
	if s.Served() != 0 {
		t.Errorf("%d requests without a key", s.Served())
	}
}

func TestBadNamesAndAddresses(t *testing.T) {
	for model, base := range map[string]string{
		"acme:x": "", "": "", "openai:gpt-4o": "localhost:8080", "mistral:x": "http://%zz:" + sample.Canary + "@h", "ollama:x": "ftp://h/",
	} {
		e := sample.Failure(t, router.New(router.Options{Getenv: sample.Keys, BaseURL: base}), model)
		if e.Kind != contract.KindModelRequest {
			t.Errorf("%s at %q: error = %s, %s", model, base, e.Kind, e.Message)
		}
		sample.NoKey(t, e)
	}
}

func TestTheEnvironmentWinsOverTheConfiguredAddress(t *testing.T) {
	for variable, model := range map[string]string{
		"GEMINI_BASE_URL": "gemini-2.5-flash", "ANTHROPIC_BASE_URL": "claude-x", "OPENAI_BASE_URL": "openai:x",
		"MISTRAL_BASE_URL": "mistral:x", "OLLAMA_BASE_URL": "ollama:x", "OPENROUTER_BASE_URL": "openrouter:x/y",
	} {
		s := llmtest.NewServer()
		s.Always(llmtest.Say("ok"))
		getenv := func(name string) string {
			if name == variable {
				return s.URL() + "/"
			}
			return sample.Keys(name)
		}
		router := router.New(router.Options{Getenv: getenv, BaseURL: "http://127.0.0.1:1/"})
		if _, err := router.Generate(t.Context(), llm.Request{Model: model, Messages: []contract.Message{sample.User("hi")}}); err != nil {
			t.Errorf("%s: %v", variable, err)
		}
		s.Close()
	}
}

func TestAModelWhoseSettingsLackSomethingIsNotCalled(t *testing.T) {
	s := llmtest.NewServer()
	defer s.Close()
	const problem = "headers: not set in the environment: [TOKEN]"
	router := router.New(router.Options{Getenv: sample.Keys, Models: []llm.Entry{
		{Name: "fast", Provider: contract.ProviderOpenAI, Model: "m", BaseURL: s.URL(), Problem: problem},
	}})
	if e := sample.Failure(t, router, "fast"); e.Kind != contract.KindModelAuth || e.Message != problem || s.Served() != 0 {
		t.Errorf("got %+v after %d calls", e, s.Served())
	}
}
