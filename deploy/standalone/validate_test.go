package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// validateText runs agent validate on a file with this text.
func validateText(t *testing.T, text string, getenv func(string) string, flags ...string) (string, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "a.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err := run(t.Context(), append([]string{"validate", "--config", file}, flags...), getenv, &out, &out)
	return out.String(), err
}

func TestValidateFailsOnWhatTheEnvironmentLacks(t *testing.T) {
	const text = "host: 127.0.0.1\nmcp_servers:\n  - {name: a, url: 'http://localhost:1/mcp', unannotated: ask, headers: {X-Key: '${A_KEY}'}}\n"
	out, err := validateText(t, text, env())
	if err == nil || !strings.Contains(err.Error(), "a.yaml: llm.model: the model google:gemini-2.5-flash needs GEMINI_API_KEY") ||
		!strings.Contains(err.Error(), "a.yaml:3: mcp_servers[0].headers.X-Key: ${A_KEY} is not set in the environment") {
		t.Errorf("got %v", err)
	}
	if !strings.HasPrefix(out, "Settings\n") {
		t.Errorf("printed\n%s", out)
	}
	if _, err := validateText(t, text, env("GEMINI_API_KEY", "k", "A_KEY", "k")); err != nil {
		t.Errorf("all is set: %v", err)
	}
}

func TestValidateTakesTheOfflineModelWhereThatIsWanted(t *testing.T) {
	out, err := validateText(t, "host: 127.0.0.1", env(), "--demo-if-no-key")
	if err != nil || !strings.Contains(out, "demo:rules") || !strings.Contains(out, "GEMINI_API_KEY is not set, so an offline stand-in") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestValidateAsksToolServersOnlyWhenTold(t *testing.T) {
	const text = "llm: {model: 'demo:rules'}\nmcp_servers: [{name: gone, command: /nowhere/tool}]"
	if _, err := validateText(t, text, env()); err != nil {
		t.Errorf("without --connect: %v", err)
	}
	if _, err := validateText(t, text, env(), "--connect"); err == nil || !strings.Contains(err.Error(), "tool server gone: ") {
		t.Errorf("with --connect: %v", err)
	}
}

func TestOnlyValidateConnects(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), []string{"version", "--connect"}, env(), &out, &out); exitCode(err) != 2 {
		t.Errorf("got %v", err)
	}
}
