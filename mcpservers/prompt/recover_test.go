package prompt_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/prompt"
	"agent-stop-and-go/mcpservers/prompt/sections"
)

// A process that dies between the writing of a version and of the files leaves what this makes.
func TestAnInterruptedChangeIsCompleted(t *testing.T) {
	dir := directory(t)
	s := open(t, dir)
	a := prompt.Author{Key: hosting.CallKey{Key: "k", ArgsSHA256: "1"}}
	u := prompt.Update{Section: "tone", Operation: sections.Append, Content: "a", Base: baseOf(t, s, "tone")}
	first, err := s.Update(t.Context(), u, a)
	if err != nil {
		t.Fatal(err)
	}
	version := filepath.Join(dir, ".versions", "00000002.json")
	for name, damage := range map[string]func(){
		"nothing is written":  func() { write(t, dir, "tone.md", "Be brief.\n") },
		"all is written":      func() {},
		"a file is half-made": func() { write(t, filepath.Join(dir, ".versions"), ".00000003.json.pending123", "{") },
	} {
		if err := os.Rename(version, version+".pending"); err != nil {
			t.Fatal(err)
		}
		damage()
		s := open(t, dir)
		if got := text(t, dir, "tone.md"); got != "Be brief.\n\na" {
			t.Errorf("%s: %q", name, got)
		}
		if again, err := s.Update(t.Context(), u, a); err != nil || again != first {
			t.Errorf("%s: %+v %v", name, again, err)
		}
		if h, err := s.History(t.Context(), 10); err != nil || len(h) != 2 {
			t.Errorf("%s: %+v %v", name, h, err)
		}
	}
}

// reverting makes a directory whose version 3 is a change of two files that was interrupted.
func reverting(t *testing.T) string {
	t.Helper()
	dir := directory(t)
	s := open(t, dir)
	write(t, dir, "tone.md", "Be long.\n")
	write(t, dir, "db.md", "Write.\n")
	if _, err := s.Revert(t.Context(), prompt.Revert{Version: 1, Base: baseOf(t, s, "")}, prompt.Author{}); err != nil {
		t.Fatal(err)
	}
	version := filepath.Join(dir, ".versions", "00000003.json")
	if err := os.Rename(version, version+".pending"); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestAChangeThatCannotBeCompletedYetIsKept(t *testing.T) {
	dir := reverting(t) // db.md is written
	tone := filepath.Join(dir, "tone.md")
	if err := errors.Join(os.Remove(tone), os.MkdirAll(filepath.Join(tone, "in the way"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if _, err := prompt.Open(t.Context(), dir, prompt.Limits{}); err == nil || !strings.Contains(err.Error(), "version 3 is not complete") {
		t.Error(err)
	}
	if err := os.RemoveAll(tone); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "tone.md", "Be long.\n")
	if h, err := open(t, dir).History(t.Context(), 10); err != nil || len(h) != 3 || text(t, dir, "tone.md") != "Be brief.\n" {
		t.Errorf("%+v %v", h, err)
	}
}

func TestAnEditDuringAChangeIsKept(t *testing.T) {
	dir := reverting(t)
	write(t, dir, "tone.md", "Be long.\n")               // not written yet
	write(t, dir, "db.md", "By hand.\n")                 // edited after it was written
	write(t, dir, "tools.md", "[SECTIONS]\ndb: By hand") // not one that the version changes
	h, err := open(t, dir).History(t.Context(), 10)
	if err != nil || len(h) != 4 || h[0].Operation != prompt.OperationEdited || h[1].Operation != prompt.OperationRevert || !strings.Contains(h[0].Diff, "+By hand.") {
		t.Errorf("%+v %v", h, err)
	}
	if tone, db, tools := text(t, dir, "tone.md"), text(t, dir, "db.md"), text(t, dir, "tools.md"); tone != "Be brief.\n" || db != "By hand.\n" || !strings.Contains(tools, "By hand") {
		t.Errorf("%q %q %q", tone, db, tools)
	}
}

// A version of what is in the files writes none of them, also when it is completed late.
func TestEditsWhileAnEditIsRecordedAreKept(t *testing.T) {
	dir := directory(t)
	open(t, dir)
	version := filepath.Join(dir, ".versions", "00000001.json")
	if err := os.Rename(version, version+".pending"); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "tone.md", "By hand.\n")
	if h, err := open(t, dir).History(t.Context(), 10); err != nil || len(h) != 2 || text(t, dir, "tone.md") != "By hand.\n" {
		t.Errorf("%+v %v", h, err)
	}
}

func TestFilesThatCannotBeWrittenLeaveNothing(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("the superuser may write everything")
	}
	dir := directory(t)
	s := open(t, dir)
	base := baseOf(t, s, "tone")
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	if _, err := s.Update(t.Context(), prompt.Update{Section: "tone", Operation: sections.Append, Content: "a", Base: base}, prompt.Author{}); err == nil || !strings.Contains(err.Error(), "nothing is changed") {
		t.Error(err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if h, err := s.History(t.Context(), 10); err != nil || len(h) != 1 {
		t.Errorf("%+v %v", h, err)
	}
}
