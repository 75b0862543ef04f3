package prompt_test

import (
	"os"
	"path/filepath"
	"testing"

	"agent-stop-and-go/config"

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

// The file of a section is the choice of who writes the YAML file, as mounted secrets and ConfigMaps are.
func TestFilesOfSectionsMayBeLinks(t *testing.T) {
	dir := write(t, map[string]string{"a/agent.yaml": "prompt:\n  sections: [{name: tone, file: tone.md}]\n", "tone": "Be brief.\n"})
	if err := os.Symlink("../tone", filepath.Join(dir, "a", "tone.md")); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(filepath.Join(dir, "a", "agent.yaml"))
	if err != nil || c.Prompt.System() != "## tone\nBe brief.\n" {
		t.Errorf("%v: %q", err, c.Prompt.System())
	}
}
