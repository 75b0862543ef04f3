package sections_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"agent-stop-and-go/mcpservers/prompt/sections"
)

func TestADirectoryIsReadAndNothingElse(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := func(to, name string) {
		t.Helper()
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(outside, "secret"), "secret")
	write(filepath.Join(dir, "index.md"), "\uFEFF## A title\r\nYou help.\n[SECTIONS]\nlinked\n")
	write(filepath.Join(dir, "text"), "### Not a title\nText.\n")
	link("text", "linked.md") // as directories of Kubernetes have it
	p, faults := sections.Read(sections.Directory(dir))
	if want := "You help.\n\n## linked\n### Not a title\nText.\n"; len(faults) > 0 || p.Assemble() != want {
		t.Errorf("%q %v", p.Assemble(), faults)
	}
	write(filepath.Join(dir, "index.md"), "You help.\n[SECTIONS]\nout\nup\npipe\nfolder\ngone\n")
	link(filepath.Join(outside, "secret"), "out.md")
	rel, err := filepath.Rel(dir, filepath.Join(outside, "secret"))
	if err != nil {
		t.Fatal(err)
	}
	link(rel, "up.md")
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.md"), 0o700); err != nil {
		t.Fatal(err)
	}
	p, faults = sections.Read(sections.Directory(dir))
	lines := strings.Split(faults.Error(), "\n")
	for i, want := range []string{"escapes from parent", "escapes from parent", "pipe.md is not a regular file", "folder.md is not a regular file", "the file gone.md is missing"} {
		if len(lines) != 5 || !strings.Contains(lines[i], want) {
			t.Fatalf("%d: %s", i, faults)
		}
	}
	if strings.Contains(p.Assemble(), "secret") {
		t.Error(p.Assemble())
	}
	if _, faults := sections.Read(sections.Directory(filepath.Join(dir, "none"))); faults.Error() != "index.md: the file index.md is missing" {
		t.Errorf("%v", faults)
	}
}
