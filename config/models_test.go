package config_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"agent-stop-and-go/config"
	"agent-stop-and-go/workflows/contract"
)

func modelsDoc(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("MODELS.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// allDocs returns the text of every document that quotes parts of a YAML file.
func allDocs(t *testing.T) (text string) {
	t.Helper()
	for _, file := range []string{"README.md", "MODELS.md", "NODES.md", "A2A.md", "../deploy/README.md", "../deploy/OPERATIONS.md"} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text += string(data)
	}
	return text
}

// rows returns the cells of the table rows that start with code.
func rows(table string) [][]string {
	var out [][]string
	for line := range strings.Lines(table) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		var cells []string
		for cell := range strings.SplitSeq(strings.Trim(line, "| \n"), "|") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		out = append(out, cells)
	}
	return out
}

func TestTheDocumentedVariablesAreThoseOfProviders(t *testing.T) {
	documented := map[string]string{}
	for _, cells := range rows(section(t, modelsDoc(t), "## Keys")) {
		for provider := range strings.SplitSeq(cells[0], ",") {
			documented[strings.Trim(provider, " `")] = cells[1]
		}
	}
	for _, p := range append(contract.Providers(), contract.ProviderCompatible) {
		want := "`" + p.KeyVariable() + "`"
		if p.KeyVariable() == "" {
			want = "none"
		}
		if got := documented[string(p)]; !strings.HasPrefix(got, want) {
			t.Errorf("%s: documented %q, want %s", p, got, want)
		}
	}
}

func TestTheDocumentedNamesOfModelsAreThoseOfTheError(t *testing.T) {
	_, err := config.Parse("agent.yaml", []byte("llm: {model: unheard-of}"))
	if err == nil {
		t.Fatal("a bare name of no provider is accepted")
	}
	_, list, found := strings.Cut(err.Error(), "a name that begins with ")
	if !found {
		t.Fatal(err)
	}
	doc, _, _ := strings.Cut(modelsDoc(t), "## Entries")
	for name := range strings.SplitSeq(strings.ReplaceAll(list, " or ", ", "), ", ") {
		if !strings.Contains(doc, "`"+name+"`") && !strings.Contains(doc, "`"+name+"…`") {
			t.Errorf("MODELS.md does not name %s", name)
		}
	}
}

func TestDocumentedFilesLoad(t *testing.T) {
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```")
	for _, m := range blocks.FindAllStringSubmatch(allDocs(t), -1) {
		c := parse(t, m[1])
		for _, w := range c.Warnings() {
			if !strings.Contains(w, "has no price") {
				t.Errorf("%s in\n%s", w, m[1])
			}
		}
	}
}

func TestModelsAndNodesAreLinked(t *testing.T) {
	if !strings.Contains(nodesDoc(t), "(MODELS.md)") {
		t.Error("NODES.md does not link to MODELS.md")
	}
	section(t, nodesDoc(t), "## Session state") // MODELS.md links to it
}

func TestDescribeShowsModelsAndLimits(t *testing.T) {
	c := parse(t, `
llm: {model: fast}
models:
  fast: {provider: google, model: g, fallback: [off, "openai:x"]}
  local: {provider: compatible, model: m, base_url: "http://me.example/v1?key=c4n4ry", headers: {X-Key: "${LOCAL}"}, price: {input: 0.001}}
  off: {provider: mistral, model: m, enabled: false, headers: {X-Team: a}}
limits: {turn: {time: 90s, calls: 2}, conversation: {}}
host: localhost
`)
	got := describe(t, c, env("GEMINI_API_KEY", "c4n4ry", "LOCAL", "c4n4ry"))
	_, got, _ = strings.Cut(got, "\n\n")
	const want = `Models
  fast: google:g; key GEMINI_API_KEY is set; no price; falls back on openai:x
  local: compatible:m; needs no key; at http://me.example/v1; with the headers X-Key; a million tokens cost 0.001 in, 0 out
  off: mistral:m; disabled

Limits
  a turn: 2 calls, 1m30s of work

Agent
  agent (llm)  fast (google:g), key GEMINI_API_KEY is set

Warning: agent.yaml:4: models.fast.fallback[0]: "off" is disabled and left out
`
	if got != want {
		t.Errorf("got\n%s", got)
	}
	if got := describe(t, parse(t, "limits: {turn: {}}"), env()); strings.Contains(got, "Limits") || strings.Contains(got, "Models") {
		t.Errorf("shows nothing:\n%s", got)
	}
}
