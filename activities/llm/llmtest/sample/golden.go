package sample

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/activities/llm/llmtest"
)

type golden struct {
	Method, Path string
	Headers      map[string]string
	Body         json.RawMessage
}

// CompareGolden compares a request with a golden file. UPDATE_GOLDEN=1 rewrites it.
func CompareGolden(t *testing.T, file string, r llmtest.Request) {
	t.Helper()
	g := golden{Method: r.Method, Path: r.Path, Headers: map[string]string{}, Body: r.Body}
	for _, name := range []string{"Authorization", "X-Api-Key", "Anthropic-Version", "Content-Type", "HTTP-Referer", "X-Title", "User-Agent", "OpenAI-Organization"} {
		if v := r.Header.Get(name); v != "" {
			g.Headers[name] = strings.ReplaceAll(v, Canary, "KEY")
		}
	}
	raw, err := json.Marshal(g)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := json.Indent(&got, raw, "", "  "); err != nil {
		t.Fatal(err)
	}
	got.WriteByte('\n')
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", file, diff)
	}
}
