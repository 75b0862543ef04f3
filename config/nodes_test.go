package config_test

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
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

// section is the text under a heading.
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

func TestTheDocumentedFieldsAreThoseOfNode(t *testing.T) {
	table := section(t, nodesDoc(t), "## Fields")
	var documented []string
	for line := range strings.Lines(table) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		cells := strings.Split(line, "|")
		key := strings.Trim(cells[1], " `")
		documented = append(documented, key)
		f, ok := fieldOf(key)
		if !ok {
			t.Errorf("%s is documented and not there", key)
			continue
		}
		checkRow(t, f, key, strings.TrimSpace(cells[2]), strings.TrimSpace(cells[3]), strings.TrimSpace(cells[4]))
	}
	for f := range reflect.TypeFor[config.Node]().Fields() {
		if key := f.Tag.Get("yaml"); !slices.Contains(documented, key) {
			t.Errorf("%s has no row", key)
		}
	}
}

func fieldOf(key string) (reflect.StructField, bool) {
	return reflect.TypeFor[config.Node]().FieldByNameFunc(func(name string) bool {
		f, _ := reflect.TypeFor[config.Node]().FieldByName(name)
		return f.Tag.Get("yaml") == key
	})
}

func checkRow(t *testing.T, f reflect.StructField, key, value, standard, fits string) {
	t.Helper()
	for rule := range strings.SplitSeq(f.Tag.Get("jsonschema"), ",") {
		name, want, _ := strings.Cut(rule, "=")
		switch {
		case name == "default" && standard != "`"+want+"`":
			t.Errorf("%s: documented default %s, want %s", key, standard, want)
		case name == "enum" && !strings.Contains(value, "`"+want+"`"):
			t.Errorf("%s: %s does not name %s", key, value, want)
		case name == "maximum" && !strings.Contains(value, want):
			t.Errorf("%s: %s does not name %s", key, value, want)
		}
	}
	var types []string
	for _, nodeType := range nodeTypes {
		_, err := config.Parse("f.yaml", []byte("agent: {name: n, type: "+nodeType+", "+key+": }"))
		if err == nil || !strings.Contains(err.Error(), "does not fit") {
			types = append(types, nodeType)
		}
	}
	want := strings.Join(types, ", ")
	if key == "name" || key == "type" || len(types) == len(nodeTypes) {
		want = "all"
	}
	if fits != want {
		t.Errorf("%s: documented to fit %s, fits %s", key, fits, want)
	}
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
