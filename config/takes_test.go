package config_test

import (
	"testing"

	"agent-stop-and-go/config"
	"agent-stop-and-go/workflows/contract/modality"
)

func TestAnEntrySaysWhatItsModelTakes(t *testing.T) {
	c, err := config.Parse("agent.yaml", []byte(`
models:
  seen: {provider: openai, model: gpt-4o}
  plain: {provider: openai, model: gpt-4o, images: false, pdf: false}
  own: {provider: compatible, base_url: "http://localhost:1", model: m, pdf: true}
  llava: {provider: ollama, model: llava, images: true}
`))
	if err != nil {
		t.Fatal(err)
	}
	for model, want := range map[string]modality.Set{
		"seen": {Images: true, PDF: true}, "plain": {}, "own": {PDF: true}, "llava": {Images: true},
		"claude-sonnet-4-5": {Images: true, PDF: true}, "ollama:llava": {}, "demo:rules": {}, "nobody": {}, "": {},
	} {
		if got := c.Takes(model); got != want {
			t.Errorf("%q takes %+v, want %+v", model, got, want)
		}
	}
}
