package config_test

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/blobstore"
	"agent-stop-and-go/workflows/contract"
)

func loadExample(t *testing.T, name string) *config.Config {
	t.Helper()
	c, err := config.Load(filepath.Join("examples", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// leaves returns the leaves of a tree.
func leaves(n contract.Node) []contract.Node {
	if !n.Composite() {
		return []contract.Node{n}
	}
	var all []contract.Node
	for _, child := range n.Nodes {
		all = append(all, leaves(child)...)
	}
	return all
}

func TestExamplesRunOfflineAndSuggestQuestions(t *testing.T) {
	for _, name := range []string{"simple", "sequential", "parallel", "loop", "nested", "full-pipeline", "models", "rules", "commands", "sql", "web", "openapi", "prompt", "local-tools", "drive"} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("examples", name+".yaml"))
			if err != nil {
				t.Fatal(err)
			}
			if !regexp.MustCompile(`(?m)^# Ask it:  \S`).Match(text) {
				t.Error("does not say what to ask")
			}
			c := loadExample(t, name)
			if c.Name != name || c.Host != "127.0.0.1" || c.DataDir != "./data" {
				t.Errorf("name %s, host %s, data in %s", c.Name, c.Host, c.DataDir)
			}
			a, err := c.Agent(t.Context(), blobstore.Memory())
			if err != nil {
				t.Fatal(err)
			}
			if a.Model != contract.DemoModel || len(c.MCPServers) != 1 || c.MCPServers[0].Command != cmp.Or(map[string]string{"commands": "mcp-commands", "sql": "mcp-sql", "web": "mcp-web", "openapi": "mcp-openapi", "prompt": "mcp-prompt", "drive": "mcp-drive"}[name], "mcp-resources") {
				t.Errorf("model %s, servers %+v", a.Model, c.MCPServers)
			}
			if a.Tree != nil {
				checkLeaves(t, leaves(*a.Tree))
			}
		})
	}
}

var demoLine = regexp.MustCompile(`(?m)^demo: \S.*$`)

// No placeholder starts a line of a prompt, because its value could start with "demo:".
func checkLeaves(t *testing.T, nodes []contract.Node) {
	t.Helper()
	for _, n := range nodes {
		if n.Model != contract.DemoModel {
			t.Errorf("%s has the model %s", n.Name, n.Model)
		}
		if found := demoLine.FindAllString(n.Prompt.Inline, -1); len(found) != 1 || !strings.HasSuffix(n.Prompt.Inline, found[0]+"\n") {
			t.Errorf("%s: the last line of the prompt, and no other, must be for the demo model:\n%s", n.Name, n.Prompt.Inline)
		}
		if regexp.MustCompile(`(?m)^\{`).MatchString(n.Prompt.Inline) {
			t.Errorf("%s: a line of the prompt begins with a placeholder:\n%s", n.Name, n.Prompt.Inline)
		}
		if n.SkipApproval && slices.Contains(n.Tools, "resources_add") {
			t.Errorf("%s adds resources unasked", n.Name)
		}
	}
}

func TestTheNestedExampleHoldsACallThreeLevelsDown(t *testing.T) {
	root := loadExample(t, "nested").Root
	inner := root.Agents[0].Agents[1]
	store := inner.Agents[1]
	if root.Type != config.Sequential || root.Agents[0].Type != config.Parallel || inner.Type != config.Sequential ||
		inner.Approval != config.ApprovalRequired || !slices.Equal(store.Tools, []string{"resources_add"}) {
		t.Errorf("root %+v", root)
	}
}

func TestTheFullPipelineContinuesAfterARejection(t *testing.T) {
	nodes := loadExample(t, "full-pipeline").Root.Agents
	types := []string{nodes[0].Type, nodes[1].Type, nodes[2].Type, nodes[3].Type}
	if !slices.Equal(types, []string{config.Parallel, config.Loop, config.LLMNode, config.LLMNode}) {
		t.Errorf("types %v", types)
	}
	if nodes[2].OnReject != config.OnRejectContinue || !nodes[3].History {
		t.Errorf("publish %+v, report %+v", nodes[2], nodes[3])
	}
}
