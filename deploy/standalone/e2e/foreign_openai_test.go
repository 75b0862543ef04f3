//go:build foreign

package e2e_test

import "testing"

// TestForeignOpenAI runs an agent with clients of OpenAI's API: OpenAI's own SDK and agents, the AI
// SDK, and LangChain.js.
func TestForeignOpenAI(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.llm, h.extra = "{model: reader}", "models: {reader: {provider: openai, model: test-model, pdf: true}}\n"
	api, _ := h.inside()
	drives(t, "openai.mjs", api.base)
	if refused := h.model.Refused(); len(refused) != 0 {
		t.Errorf("the model's provider has refused %q", refused)
	}
}
