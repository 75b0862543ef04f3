package redact_test

import (
	"strings"
	"testing"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/redact"
)

func TestAnAddressHasNoSecrets(t *testing.T) {
	const secret = "s3cr3t"
	for raw, want := range map[string]string{
		"http://localhost:8090/mcp":                              "http://localhost:8090/mcp",
		"https://user:s3cr3t@example.com/mcp#s3cr3t":             "https://example.com/mcp",
		"https://example.com/mcp?project=a&api_key=s3cr3t":       "https://example.com/mcp?api_key=…&project=a",
		"https://example.com/mcp?api_key=other&project=a":        "https://example.com/mcp?api_key=…&project=a",
		"https://example.com/mcp?project=b&sig=s3cr3t&code=x":    "https://example.com/mcp?code=…&project=b&sig=…",
		"https://example.com/a-path-of-many-words-without-end":   "https://example.com/a-path-of-many-words-without-end",
		"https://example.com/s/aGVsbG8gd29ybGQgMTIzNDU2Nzg5/mcp": "https://example.com/s/…" + contract.Hash([]byte("aGVsbG8gd29ybGQgMTIzNDU2Nzg5"))[:12] + "/mcp",
	} {
		if got := redact.URL(raw); got != want || strings.Contains(got, secret) {
			t.Errorf("%s: got %s, expected %s", raw, got, want)
		}
	}
	if got := redact.URL("http://[s3cr3t"); strings.Contains(got, secret) {
		t.Errorf("an unreadable URL: %s", got)
	}
}

func TestHistoriesHaveAURLAsItIsOrWithoutItsSecrets(t *testing.T) {
	for raw, want := range map[string]string{
		"http://b":                           "http://b",
		"http://b:80/a2a?q=%20b&a=x#part":    "http://b:80/a2a?q=%20b&a=x#part",
		"https://example.com/a2a?key=s3cr3t": "https://example.com/a2a?key=…",
		"https://user:s3cr3t@example.com/x":  "https://example.com/x",
		"https://s3cr3t@example.com/x":       "https://example.com/x",
	} {
		kept := redact.KeptURL(raw)
		same := kept == raw
		if kept != want || redact.KeptURL(kept) != kept || redact.Whole(kept) == strings.Contains(kept, "…") || same && !redact.Whole(kept) {
			t.Errorf("%s: got %s, expected %s", raw, kept, want)
		}
	}
}

func TestACommandLineHasNoSecrets(t *testing.T) {
	got := redact.Command("npx", []string{
		"-y", "mcp-remote", "https://u:s3cr3t@example.com/mcp", "--header", "Authorization: Bearer s3cr3t", "--token=s3cr3t",
		"--api-key", "s3cr3t", "-e", "DB_PASSWORD=s3cr3t", "--db", "./data/resources.db", "--dsn=postgres://u:s3cr3t@db/x", "--port", "1",
	})
	want := "npx -y mcp-remote https://example.com/mcp --header Authorization: … --token=… --api-key … -e DB_PASSWORD=… " +
		"--db ./data/resources.db --dsn=postgres://db/x --port 1"
	if strings.Join(got, " ") != want {
		t.Errorf("got %s\nexpected %s", got, want)
	}
}
