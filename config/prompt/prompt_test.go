package prompt_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/blobstore"
	mcpprompt "agent-stop-and-go/mcpservers/prompt"
	"agent-stop-and-go/mcpservers/prompt/sections"
	"agent-stop-and-go/workflows/contract/promptversion"

	"github.com/google/go-cmp/cmp"
)

// write makes files in a folder of the test.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestSectionsBecomeThePrompt(t *testing.T) {
	const want = "You help.\n\n## tone: How to write\nBe brief.\n\n## tools\n\n### db\nRead first.\n"
	for name, text := range map[string]string{
		"text":      "prompt: |\n  You help.\n\n  ## tone: How to write\n  Be brief.\n\n  ## tools\n\n  ### db\n  Read first.\n",
		"sections":  "prompt:\n  text: You help.\n  sections:\n    - {name: tone, description: How to write, file: p/tone.md}\n    - name: tools\n      sections: [{name: db, text: Read first.}]\n",
		"directory": "prompt: {directory: p}\n",
	} {
		dir := write(t, map[string]string{"agent.yaml": text, "p/index.md": "You help.\n[SECTIONS]\ntone: How to write\ntools", "p/tone.md": "## Tone\nBe brief.\n", "p/tools.md": "[SECTIONS]\ndb", "p/db.md": "Read first."})
		c, err := config.Load(filepath.Join(dir, "agent.yaml"))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, c.Prompt.System()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestFaultsInFilesAreMistakes(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a file that is missing": {"prompt:\n  sections:\n    - name: a\n      file: a.md\n", "agent.yaml:4: prompt.sections[0].file: the file a.md is missing"},
		"a file with sections":   {"prompt:\n  sections:\n    - {name: a, file: p/b.md}\n", "agent.yaml:3: prompt.sections[0].file: b.md has sections, which only a directory may have in files; list them here"},
		"a directory":            {"prompt: {directory: p}\n", "p/b.md:2: the section b contains itself: b > b\np/index.md:3: the file c.md is missing"},
		"no directory":           {"prompt: {directory: q}\n", "q/index.md: the file index.md is missing"},
	} {
		t.Chdir(write(t, map[string]string{"agent.yaml": c.text, "p/index.md": "[SECTIONS]\nb\nc", "p/b.md": "[SECTIONS]\nb"}))
		if _, err := config.Load("agent.yaml"); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Links lead to files beside them, as those of mounted secrets and ConfigMaps do, and nowhere else.
func TestLinksOfFilesStayInTheirDirectory(t *testing.T) {
	dir := write(t, map[string]string{"a/agent.yaml": "prompt:\n  sections: [{name: tone, file: tone.md}]\n", "a/..data/tone": "Be brief.\n", "secret": "Be long.\n"})
	link := filepath.Join(dir, "a", "tone.md")
	for target, want := range map[string]string{"..data/tone": "## tone\nBe brief.\n", "../secret": "", filepath.Join(dir, "secret"): ""} {
		_ = os.Remove(link)
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(filepath.Join(dir, "a", "agent.yaml"))
		if (err == nil) != (want != "") || err == nil && c.Prompt.System() != want || err != nil && !strings.Contains(err.Error(), "path escapes from parent") {
			t.Errorf("%s: %v", target, err)
		}
	}
}

func TestAPromptHasAVersion(t *testing.T) {
	dir := write(t, map[string]string{
		"text.yaml": "prompt: You help.\n", "file.yaml": "prompt:\n  sections: [{name: a, sections: [{name: tone, file: p/tone.md}]}]\n", "directory.yaml": "prompt: {directory: p}\n",
		"node.yaml": "prompt: {directory: p}\nagent: {type: llm, name: a, prompt: Own.}\n", "p/index.md": "You help.\n[SECTIONS]\ntone\n", "p/tone.md": "Be brief.\n",
	})
	version := func(file string) *promptversion.Version {
		t.Helper()
		c, err := config.Load(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		a, err := c.Agent(t.Context(), blobstore.Memory())
		if err != nil {
			t.Fatal(err)
		}
		return a.PromptVersion
	}
	if v, w := version("text.yaml"), version("node.yaml"); v != nil || w != nil {
		t.Errorf("%+v %+v", v, w)
	}
	if v := version("file.yaml"); v.Source != "file" || v.Number != 0 || len(v.Sections) != 1 || v.Sections[0].Name != "tone" || v.Digest == "" {
		t.Errorf("%+v", v)
	}
	first := version("directory.yaml")
	store, err := mcpprompt.Open(t.Context(), filepath.Join(dir, "p"), mcpprompt.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	now, err := store.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second := version("directory.yaml")
	tone, err := now.Find("tone")
	if first.Source != "directory" || first.Number != 0 || second.Number != 1 || first.Digest != second.Digest || second.Digest != now.Base() || err != nil || second.Sections[0].Digest != tone.Base() {
		t.Errorf("%+v %+v %v", first, second, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "p", "tone.md"), []byte("Be long.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if v := version("directory.yaml"); v.Number != 0 || v.Digest == second.Digest || v.Sections[0].Digest == tone.Base() {
		t.Errorf("edited: %+v", v)
	}
}

func TestThePromptOfAServer(t *testing.T) {
	load := func(text string) (*config.Config, error) {
		return config.Load(filepath.Join(write(t, map[string]string{"agent.yaml": text}), "agent.yaml"))
	}
	const servers = "mcp_servers: [{name: p, url: \"http://127.0.0.1:1/mcp\"}]\n"
	for text, want := range map[string]string{
		"prompt: {server: q}\n" + servers:                                 `prompt.server: "q" is no server in mcp_servers`,
		"prompt: {server: p, directory: .}\n" + servers:                   "must stand without text, server and sections",
		"prompt: {server: p, sections: [{name: a, text: b}]}\n" + servers: "prompt.server: must stand without sections",
	} {
		if _, err := load(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	c, err := load("prompt: {server: p, text: Help.}\n" + servers)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(sections.NewReading(sections.Prompt{Sections: []sections.Section{{Name: "a", Text: "b"}}}, 7))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Prompt.Take(promptversion.Reading{Prompt: data}); err != nil || c.Prompt.System() != "## a\nb\n" || c.Prompt.Version().Number != 7 || c.Prompt.Version().Source != "server p" {
		t.Errorf("%v %q %+v", err, c.Prompt.System(), c.Prompt.Version())
	}
	if !c.Prompt.FallBack("down") || c.Prompt.System() != "Help." || c.Prompt.Version().Fallback != "down" {
		t.Errorf("%q %+v", c.Prompt.System(), c.Prompt.Version())
	}
	if c, err = load("prompt: {server: p}\n" + servers); err != nil || c.Prompt.FallBack("down") {
		t.Errorf("an empty prompt replaces that of the server: %v", err)
	}
	if promptversion.URI != sections.URI {
		t.Error("agents read another resource than servers have")
	}
}
