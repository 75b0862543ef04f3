package sample

import (
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/activities/llm/llmtest"
	"agent-stop-and-go/activities/llm/router"
)

// Canary is the key of every provider.
const Canary = "sk-canary-6f1d0c9be2a74853"

// Patience bounds every call. A busy machine takes a minute for an answer of 50 MB.
const Patience = 20 * time.Minute

// NewServer starts a server, and a router with the server as the address of every provider.
func NewServer(t *testing.T) (*llmtest.Server, *router.Router) {
	t.Helper()
	s := llmtest.NewServer()
	t.Cleanup(s.Close)
	return s, router.New(router.Options{Getenv: Keys, BaseURL: s.URL(), Timeout: Patience})
}

// Keys is an environment with a key for each provider, and nothing else.
func Keys(name string) string {
	if strings.HasSuffix(name, "_API_KEY") {
		return Canary
	}
	return ""
}
