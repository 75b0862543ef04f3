package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/policy"
)

// written writes files into a folder and returns the path of agent.yaml.
func written(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "agent.yaml")
}

func TestRulesAreIncluded(t *testing.T) {
	c, err := config.Load(written(t, map[string]string{
		"agent.yaml":    "approval:\n  include: [rules/*.yaml]\n  rules:\n    - {name: own, when: 'tool == \"alpha\"', then: allow}\n",
		"rules/1.yaml":  "rules:\n  - {name: first, when: 'tool == \"b\"', then: {deny: \"no\"}}\n",
		"rules/2.yaml":  "# none yet\nrules:\n",
		"rules/not.txt": "x",
	}))
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Policy().Rules(); len(got) != 2 || got[0].Name != "own" || got[1].Then.Deny != "no" {
		t.Errorf("got %+v", got)
	}
	faults := c.CheckRules([]policy.Tool{{Name: "alpha"}})
	if len(faults) != 1 || !strings.HasSuffix(faults[0].String(), "rules/1.yaml:2: rule first concerns no tool: there is no tool b") {
		t.Errorf("got %v", faults)
	}
	if err := c.Validate(); err != nil { // again, after a flag
		t.Error(err)
	}
	if c.Policy() == nil {
		t.Error("the rules are gone")
	}
}

func TestMistakesInIncludedRulesNameTheirFile(t *testing.T) {
	path := written(t, map[string]string{
		"agent.yaml": "approval:\n  include: [a.yaml, gone.yaml]\n  rules: [{name: own, when: 'true', then: ask}]\n",
		"a.yaml":     "rules:\n  - {name: own, when: 'tol', then: allow}\n  - {name: x, wen: 'true'}\nother: 1\n",
	})
	_, err := config.Load(path)
	if err == nil {
		t.Fatal("no error")
	}
	got := strings.ReplaceAll(err.Error(), filepath.Dir(path)+"/", "")
	for _, want := range []string{
		`agent.yaml:2: approval.include[1]: "gone.yaml": file does not exist`, `a.yaml:2: rules: duplicate name "own"`,
		`a.yaml:2: rules[0].when: is no condition: undeclared reference to 'tol' (did you mean 'tool'?)`,
		`a.yaml:3: rules[1].wen: unknown key`, `a.yaml:4: other: unknown key`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
