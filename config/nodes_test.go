package config_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"agent-stop-and-go/config"
)

var nodeTypes = []string{config.LLMNode, config.Sequential, config.Parallel, config.Loop, config.A2ANode}

func nodesDoc(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("NODES.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// section returns the text under a heading.
func section(t *testing.T, doc, heading string) string {
	t.Helper()
	_, text, ok := strings.Cut(doc, "\n"+heading+"\n")
	if !ok {
		t.Fatalf("no heading %q", heading)
	}
	if end := regexp.MustCompile(`(?m)^#{1,3} `).FindStringIndex(text); end != nil {
		text = text[:end[0]]
	}
	return text
}

func TestEveryTypeOfNodeHasAPicture(t *testing.T) {
	doc := nodesDoc(t)
	for _, nodeType := range nodeTypes {
		if n := strings.Count(section(t, doc, "### "+nodeType), "```mermaid\nflowchart "); n != 1 {
			t.Errorf("%s has %d pictures", nodeType, n)
		}
	}
}

func TestTheDocumentedExampleLoads(t *testing.T) {
	_, text, _ := strings.Cut(nodesDoc(t), "```yaml\n")
	text, _, _ = strings.Cut(text, "```")
	if c := parse(t, text); c.Root == nil || len(c.Warnings()) > 0 {
		t.Errorf("%v in\n%s", c.Warnings(), text)
	}
}

func TestEveryExampleIsListed(t *testing.T) {
	listed := section(t, nodesDoc(t), "## Examples")
	for _, file := range shipped(t) {
		if dir, name := filepath.Split(file); dir == "examples/" && !strings.Contains(listed, "["+name+"]("+file+")") {
			t.Errorf("%s is not listed", file)
		}
	}
	for _, m := range regexp.MustCompile(`\((examples/[^)]*)\)`).FindAllStringSubmatch(listed, -1) {
		if _, err := os.Stat(m[1]); err != nil {
			t.Error(err)
		}
	}
}
