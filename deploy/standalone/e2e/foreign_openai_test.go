//go:build foreign

package e2e_test

import "testing"

// TestForeignOpenAI runs an agent with clients of OpenAI's API: OpenAI's own SDK and agents, the AI
// SDK, and LangChain.js.
func TestForeignOpenAI(t *testing.T) {
	t.Parallel()
	api, _ := newHome(t).inside()
	drives(t, "openai.mjs", api.base)
}
