package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fence returns the first block of a language in a document.
func fence(t *testing.T, document, language string) string {
	t.Helper()
	data, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(data), "```"+language+"\n")
	text, _, ends := strings.Cut(rest, "```")
	if !found || !ends {
		t.Fatalf("%s has no block of %s", document, language)
	}
	return text
}

// showPrompt runs agent prompt show on a file with this text.
func showPrompt(t *testing.T, text string, args ...string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"a.yaml": text, "stock.md": "## Stock\nNumbers are pieces, not boxes.\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	err := run(t.Context(), append([]string{"prompt", "show", "--config", filepath.Join(dir, "a.yaml")}, args...), env(), &out, &out)
	return out.String(), err
}

func TestPromptShowPrintsWhatTheDocumentSays(t *testing.T) {
	const document = "../../config/PROMPT.md"
	text := strings.ReplaceAll(fence(t, document, "yaml"), "prompts/stock.md", "stock.md")
	want := fence(t, document, "text")
	list := "[0] tone: How to write\n[1] tools\n  [2] stock: The list\n\n"
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, list + want}, {[]string{"--text"}, want}, {[]string{"tone"}, "Be brief. Say what you changed.\n"}, {[]string{"2"}, "Numbers are pieces, not boxes.\n"},
		{[]string{"tools"}, "## stock: The list\nNumbers are pieces, not boxes.\n"},
	} {
		if got, err := showPrompt(t, text, c.args...); err != nil || got != c.want {
			t.Errorf("%v: %v\n%s", c.args, err, got)
		}
	}
	if _, err := showPrompt(t, text, "x"); err == nil || !strings.Contains(err.Error(), `there is no section "x"; there are:`+"\n[0] tone") {
		t.Error(err)
	}
}

func TestPromptShowIsAboutAgentsOfASingleNode(t *testing.T) {
	if got, err := showPrompt(t, "prompt: top\nagent: {type: llm, name: a, prompt: own}"); err != nil || got != "own\n" {
		t.Errorf("%v %q", err, got)
	}
	if got, err := showPrompt(t, "prompt: top"); err != nil || got != "top\n" {
		t.Errorf("%v %q", err, got)
	}
	tree := "prompt: top\nagent: {type: sequential, name: s, agents: [{type: llm, name: a, prompt: x}]}"
	if got, err := showPrompt(t, tree); err == nil || !strings.Contains(err.Error(), "prompts of their own") {
		t.Errorf("%v %q", err, got)
	}
}

func TestVersionsOfAPromptInADirectory(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a.yaml", "prompt: {directory: .}")
	write("index.md", "One.\n")
	prompt := func(args ...string) (string, error) {
		var out bytes.Buffer
		err := run(t.Context(), append(append([]string{"prompt"}, args...), "--config", filepath.Join(dir, "a.yaml")), env("USER", "carol"), &out, &out)
		return out.String(), err
	}
	if out, err := prompt("history"); err != nil || !strings.HasPrefix(out, "1  ") || !strings.HasSuffix(out, "  found\n") {
		t.Errorf("%v %s", err, out)
	}
	write("index.md", "Two.\x1b[2J\n")
	if out, err := prompt("diff"); err != nil || !strings.Contains(out, "\n-One.\n+Two.\\u001b[2J\n") {
		t.Errorf("%v %q", err, out)
	}
	if out, err := prompt("revert", "1", "--why", "wrong"); err != nil || !strings.HasPrefix(out, "This is version 3.\n") {
		t.Errorf("%v %s", err, out)
	}
	if out, err := prompt("history", "--limit", "1", "--diff"); err != nil || !strings.Contains(out, "  revert to 1  by carol  (wrong)\n--- index.md") {
		t.Errorf("%v %s", err, out)
	}
	for want, args := range map[string][]string{
		"there is no version 9; there are 1 to 3": {"diff", "9"}, "as in version 1 already": {"revert", "1"}, `"x" is no number of a version`: {"revert", "x"},
	} {
		if out, err := prompt(args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v %s", args, err, out)
		}
	}
	write("a.yaml", "prompt: text")
	if _, err := prompt("history"); err == nil || !strings.Contains(err.Error(), "in no directory") {
		t.Error(err)
	}
}
