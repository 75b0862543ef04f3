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

func TestAServersHeadersTakeValuesFromTheEnvironment(t *testing.T) {
	getenv := func(name string) string { return map[string]string{"A": "a", "BAD": "x\r\nInjected: y"}[name] }
	s := config.MCPServer{Name: "far", Headers: map[string]string{"Authorization": "Bearer ${A}", "X-Team": "shop"}}
	got, err := s.HTTPHeaders(getenv)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"Authorization": "Bearer a", "X-Team": "shop"}, got); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	for value, want := range map[string]string{"${B} ${C} ${B}": "mcp server far: headers: not set in the environment: [B C]", "${BAD}": "headers.X-Team"} {
		s.Headers["X-Team"] = value
		if _, err := s.HTTPHeaders(getenv); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "Injected") {
			t.Errorf("%s: %v", value, err)
		}
	}
}

func TestASecretInHeadersMustBeAReference(t *testing.T) {
	for header, ok := range map[string]bool{
		`Authorization: "Bearer ${TOKEN}"`: true, `Authorization: "${TOKEN}"`: true, `X-API-Key: "${KEY}"`: true, `X-Team: shop`: true,
		`X-Team: "shop ${NAME} 1"`:  true,
		`Authorization: Bearer abc`: false, `authorization: abc`: false, `X-API-Key: abc`: false, `Cookie: "a=b"`: false,
		`Authorization: "Bearer abc${TOKEN}"`: false, `Private-Token: "${A} b"`: false,
	} {
		_, err := config.Parse("a.yaml", []byte("mcp_servers:\n  - name: far\n    url: http://far\n    headers: {"+header+"}\n"))
		if (err == nil) != ok {
			t.Errorf("%s: %v", header, err)
		}
	}
}

func TestAnAgentsHeadersTakeValuesFromTheEnvironment(t *testing.T) {
	a := config.A2AAgent{Name: "b", Headers: map[string]string{"Authorization": "Bearer ${A}", "X-Team": "shop"}}
	got, err := a.HTTPHeaders(env("A", "a"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"Authorization": "Bearer a", "X-Team": "shop"}, got); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	if _, err := a.HTTPHeaders(env()); err == nil || err.Error() != "a2a agent b: headers: not set in the environment: [A]" {
		t.Errorf("a missing variable: %v", err)
	}
}
