package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/config"
)

func TestAServersVariablesTakeValuesFromTheEnvironment(t *testing.T) {
	getenv := func(name string) string {
		return map[string]string{"GITHUB_TOKEN": "t0ken", "HOST": "example"}[name]
	}
	s := config.MCPServer{Name: "git", Env: map[string]string{
		"TOKEN": "${GITHUB_TOKEN}", "URL": "https://${HOST}/x", "PLAIN": "$HOME",
	}}
	got, err := s.Environment(getenv)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"TOKEN": "t0ken", "URL": "https://example/x", "PLAIN": "$HOME"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
	s.Env["OTHER"] = "${NOT_SET}"
	if _, err := s.Environment(getenv); err == nil || !strings.Contains(err.Error(), "NOT_SET") || !strings.Contains(err.Error(), "git") {
		t.Errorf("a missing variable: %v", err)
	}
}

func TestASecretInEnvMustBeAReference(t *testing.T) {
	const text = "mcp_servers:\n  - name: git\n    command: git-mcp\n    env: {GITHUB_TOKEN: %}\n"
	if _, err := config.Parse("a.yaml", []byte(strings.ReplaceAll(text, "%", `"${GITHUB_TOKEN}"`))); err != nil {
		t.Errorf("a reference: %v", err)
	}
	if _, err := config.Parse("a.yaml", []byte(strings.ReplaceAll(text, "%", "abc"))); err == nil {
		t.Error("a secret in the file was accepted")
	}
}
