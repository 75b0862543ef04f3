package config_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/config"
)

func TestChangedDefaultsAreListedWhereAFileReliesOnThem(t *testing.T) {
	tests := map[string]struct {
		text string
		want []string
	}{
		"all is set": {"host: 0.0.0.0\nauth: none\nmcp_servers: [{name: a, url: 'http://a', unannotated: ask}]\nllm: {model: 'openai:o3'}", nil},
		"no host": {"name: a", []string{
			"agent.yaml: host: is not set: the agent listens on 127.0.0.1 only, no longer on every address; 0.0.0.0 lets others in, with auth",
		}},
		"servers": {`host: "::1"
mcp_servers:
  - {name: own, command: mcp-resources}
  - {name: path, command: /opt/bin/mcp-filesystem}
  - {name: "a b", url: "http://a"}
`, []string{`agent.yaml:5: mcp_servers[2].unannotated: is not set: tools of "a b" without hints now ask a person first; run lets them run as before`}},
		"names of models": {`host: "::1"
llm: {model: gpt-4o}
models: {o3: {provider: google, model: g}}
agent:
  type: sequential
  agents:
    - {name: a, model: o3}
    - {name: b, model: codestral-latest}
    - {name: c, model: claude-x}
    - {name: d, model: gemini-x}
    - {name: e, model: openai-x}
    - {name: f, model: "mistral:codestral-x"}
    - {name: g, type: a2a, url: "http://g"}
`, []string{
			`agent.yaml:2: llm.model: "gpt-4o" is now openai:gpt-4o; it was taken for a model of Google`,
			`agent.yaml:8: agent.agents[1].model: "codestral-latest" is now mistral:codestral-latest; it was taken for a model of Google`,
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := parse(t, tt.text)
			if diff := cmp.Diff(tt.want, c.ChangedDefaults()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if n := strings.Count(describe(t, c, env()), "\nChanged defaults (see deploy/CHANGELOG.md)\n"); n != min(1, len(tt.want)) {
				t.Errorf("%d headings", n)
			}
		})
	}
}

func TestShippedFilesRelyOnNoChangedDefault(t *testing.T) {
	files, err := filepath.Glob("examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range append(files, "agent.yaml") {
		c, err := config.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		if changed := c.ChangedDefaults(); changed != nil {
			t.Errorf("%s: %v", file, changed)
		}
	}
}

// A name in the changelog is a key of the YAML file or a member of the API.
func TestTheChangelogNamesExistingKeys(t *testing.T) {
	log, err := os.ReadFile("../deploy/CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	api, err := os.ReadFile("../gateway/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	settings := regexp.MustCompile("`([a-z_]+): [^`]+`|`([a-z]+_[a-z_]+)`").FindAllStringSubmatch(string(log), -1)
	if len(settings) < 3 {
		t.Errorf("the changelog names only the settings %q", settings)
	}
	for _, m := range settings {
		key := strings.Contains(string(schema), `"`+m[1]+m[2]+`": {`)
		if member := m[2] != "" && strings.Contains(string(api), m[2]+": {"); !key && !member {
			t.Errorf("%s: there is no such key", m[0])
		}
	}
}
