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

func TestFactsTellWhoTakesImages(t *testing.T) {
	for _, model := range []string{
		"openai:gpt-4o", "gpt-4o", "openai-gpt-4o-mini", "openai:gpt-4o-2024-11-20", "openai:gpt-4.1", "openai:gpt-4.1-nano", "openai:gpt-5", "openai:gpt-5.1",
		"openai:gpt-5-mini", "openai:o1", "openai:o3", "openai:o4-mini", "openai:o3-pro",
		"google:gemini-1.5-pro", "google:gemini-2.5-flash", "gemini-2.0-flash-lite", "google:gemini-3-pro-preview", "google:models/gemini-2.5-pro", "google:gemini-flash-latest",
		"anthropic:claude-3-opus-20240229", "claude-3-5-haiku-latest", "claude-3.7-sonnet", "claude-sonnet-4-5", "anthropic:claude-opus-4-1", "claude-haiku-4-5", "claude-4-sonnet",
	} {
		if !router.New(router.Options{}).Facts(model).Takes.Images {
			t.Errorf("%s does not", model)
		}
	}
	for _, model := range []string{
		"openai:gpt-4", "openai:gpt-4-turbo", "openai:gpt-3.5-turbo", "openai:gpt-4o-audio-preview", "openai:gpt-4o-mini-tts", "openai:gpt-4o-search-preview",
		"openai:gpt-4o-transcribe", "openai:gpt-4o-realtime-preview", "openai:o1-mini", "openai:o1-preview", "openai:o3-mini", "openai:ft:gpt-4o:x", "openai:opus", "openai:gpt-50",
		"google:gemini-1.0-pro", "google:gemini-pro", "google:gemini-embedding-001", "google:gemini-2.5-flash-preview-tts", "google:gemma-3-27b-it", "google:gpt-4o", "gpt4o",
		"claude-2.1", "claude-instant-1.2", "anthropic:claude-v1", "mistral:pixtral-12b", "ollama:llava", "openrouter:anthropic/claude-3-opus",
		contract.DemoModel, "", "nobody:x", "openai:", "a b",
	} {
		if router.New(router.Options{}).Facts(model).Takes.Images {
			t.Errorf("%s does", model)
		}
	}
}

func TestModelsThatAreNotKnownToSeeAreShownNothing(t *testing.T) {
	for model, sees := range map[string]bool{
		"openai:gpt-4.1-mini": true, "anthropic:claude-sonnet-4-5": true,
		"openai:gpt-3.5-turbo": false, "mistral:mistral-large-latest": false, "ollama:llava": false, "openrouter:openai/gpt-4o": false,
	} {
		s, router := sample.NewServer(t)
		s.Always(llmtest.Say("ok"))
		messages, media := sample.Illustrated()
		for _, m := range []map[string][]llm.Media{media, nil} {
			if _, err := router.Generate(t.Context(), llm.Request{Model: model, Messages: messages, Media: m}); err != nil {
				t.Fatal(err)
			}
		}
		with, without := string(s.Requests()[0].Body), string(s.Requests()[1].Body)
		if strings.Contains(with, "iVBORw0KGgpjaGFydA==") != sees || (with == without) == sees {
			t.Errorf("%s: %s", model, with)
		}
	}
}
