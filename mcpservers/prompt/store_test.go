package prompt_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/prompt"
	"agent-stop-and-go/mcpservers/prompt/sections"
)

// directory makes a prompt with the sections tone and tools, which contains db.
func directory(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"index.md": "You help.\n[SECTIONS]\ntone: How to write\ntools\n", "tone.md": "Be brief.\n", "tools.md": "[SECTIONS]\ndb", "db.md": "## Database\nRead first.\n"} {
		write(t, dir, name, text)
	}
	return dir
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func text(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func open(t *testing.T, dir string) *prompt.Store {
	t.Helper()
	s, err := prompt.Open(t.Context(), dir, prompt.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// baseOf is the base of a section, or of the prompt.
func baseOf(t *testing.T, s *prompt.Store, section string) string {
	t.Helper()
	now, err := s.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if section == "" {
		return now.Base()
	}
	e, err := now.Find(section)
	if err != nil {
		t.Fatal(err)
	}
	return e.Base()
}

// appendTo appends a text to the section tone.
func appendTo(t *testing.T, s *prompt.Store, content string, a prompt.Author) prompt.Change {
	t.Helper()
	c, err := s.Update(t.Context(), prompt.Update{Section: "tone", Operation: sections.Append, Content: content, Base: baseOf(t, s, "tone"), Why: "asked"}, a)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAChangeIsAVersion(t *testing.T) {
	dir := directory(t)
	s := open(t, dir)
	c := appendTo(t, s, "Be kind.", prompt.Author{By: "alice"})
	if c.Version != 2 || c.Base != baseOf(t, s, "tone") || !strings.Contains(c.Diff, "--- tone.md\n+++ tone.md\n") || !strings.Contains(c.Diff, "\n+Be kind.") {
		t.Errorf("%+v", c)
	}
	if got := text(t, dir, "tone.md"); got != "Be brief.\n\nBe kind." {
		t.Errorf("%q", got)
	}
	if c, err := s.Update(t.Context(), prompt.Update{Section: "2", Operation: sections.Replace, Target: "first", Content: "twice", Base: baseOf(t, s, "db")}, prompt.Author{}); err != nil || c.Version != 3 {
		t.Errorf("%+v %v", c, err)
	}
	if got := text(t, dir, "db.md"); got != "## Database\nRead twice.\n" {
		t.Errorf("the title is lost: %q", got)
	}
	reverted, err := s.Revert(t.Context(), prompt.Revert{Version: 1, Base: baseOf(t, s, "")}, prompt.Author{By: "bob"})
	if err != nil || reverted.Version != 4 || text(t, dir, "tone.md") != "Be brief.\n" || text(t, dir, "db.md") != "## Database\nRead first.\n" {
		t.Errorf("%+v %v", reverted, err)
	}
	h, err := open(t, dir).History(t.Context(), 10)
	var lines []string
	for _, e := range h {
		line := e.String()
		lines = append(lines, line[:1]+line[strings.Index(line, "Z"):])
	}
	if got, want := strings.Join(lines, "\n"), "4Z  revert to 1  by bob\n3Z  replace db\n2Z  append tone  by alice  (asked)\n1Z  found"; err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
	if h, err := s.History(t.Context(), 1); err != nil || len(h) != 1 || h[0].Version != 4 || !strings.Contains(h[0].Diff, "-Be kind.") {
		t.Errorf("%+v %v", h, err)
	}
}

func TestWhatIsRefusedChangesNothing(t *testing.T) {
	dir := directory(t)
	s := open(t, dir)
	tone, tools, all := baseOf(t, s, "tone"), baseOf(t, s, "tools"), baseOf(t, s, "")
	for want, u := range map[string]prompt.Update{
		`there is no section "x"; there are:`:  {Section: "x", Operation: sections.Append, Content: "a", Base: tone},
		"the section tools has sections":       {Section: "tools", Operation: sections.Append, Content: "a", Base: tools},
		"read it again":                        {Section: "tone", Operation: sections.Append, Content: "a", Base: tools},
		"the target is not in the section":     {Section: "tone", Operation: sections.Delete, Target: "x", Base: tone},
		"would stay as it is":                  {Section: "tone", Operation: sections.Overwrite, Content: "Be brief.\n", Base: tone},
		"must not contain the line [SECTIONS]": {Section: "tone", Operation: sections.Append, Content: "[SECTIONS]", Base: tone},
		"why has more than 2000 bytes":         {Section: "tone", Operation: sections.Append, Content: "a", Base: tone, Why: strings.Repeat("a", 2001)},
		"the prompt would have more than":      {Section: "tone", Operation: sections.Append, Content: strings.Repeat("a", sections.MaxBytes-20), Base: tone},
	} {
		if _, err := s.Update(t.Context(), u, prompt.Author{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	for want, r := range map[string]prompt.Revert{
		"there is no version 7; there are 1 to 1": {Version: 7, Base: all}, "as in version 1 already": {Version: 1, Base: all}, "read it again": {Version: 1, Base: tone},
	} {
		if _, err := s.Revert(t.Context(), r, prompt.Author{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if h, err := s.History(t.Context(), 10); err != nil || len(h) != 1 || text(t, dir, "tone.md") != "Be brief.\n" {
		t.Errorf("%+v %v", h, err)
	}
}

func TestARepeatedCallIsOneChangeAlsoAfterARestart(t *testing.T) {
	dir := directory(t)
	s := open(t, dir)
	a := prompt.Author{Key: hosting.CallKey{Key: "k", ArgsSHA256: "1"}}
	u := prompt.Update{Section: "tone", Operation: sections.Append, Content: "a", Base: baseOf(t, s, "tone")}
	first, err := s.Update(t.Context(), u, a)
	if err != nil {
		t.Fatal(err)
	}
	appendTo(t, s, "b", prompt.Author{})
	again, err := open(t, dir).Update(t.Context(), u, a)
	if err != nil || again != first || text(t, dir, "tone.md") != "Be brief.\n\na\n\nb" {
		t.Errorf("%+v, then %+v %v", first, again, err)
	}
	a.Key.ArgsSHA256 = "2"
	if _, err := s.Update(t.Context(), u, a); !errors.Is(err, hosting.ErrKeyReused) {
		t.Error(err)
	}
}

// A version is 256 KiB with the texts, and there may be 10,000.
func TestTextsOfOtherVersionsAreNotReadForAKey(t *testing.T) {
	dir := directory(t)
	s := open(t, dir)
	appendTo(t, s, "a", prompt.Author{Key: hosting.CallKey{Key: "k", ArgsSHA256: "1"}})
	appendTo(t, s, "b", prompt.Author{})
	versions := filepath.Join(dir, ".versions")
	made, _, _ := strings.Cut(text(t, versions, "00000002.json"), `"tone.md"`)
	write(t, versions, "00000002.json", made)
	u := prompt.Update{Section: "tone", Operation: sections.Append, Content: "c", Base: baseOf(t, s, "tone")}
	if c, err := s.Update(t.Context(), u, prompt.Author{Key: hosting.CallKey{Key: "l"}}); err != nil || c.Version != 4 {
		t.Errorf("%+v %v", c, err)
	}
	if _, err := s.Update(t.Context(), u, prompt.Author{Key: hosting.CallKey{Key: "k", ArgsSHA256: "2"}}); !errors.Is(err, hosting.ErrKeyReused) {
		t.Error(err)
	}
	write(t, versions, "00000002.json", "{")
	u.Base = baseOf(t, s, "tone")
	if _, err := s.Update(t.Context(), u, prompt.Author{Key: hosting.CallKey{Key: "m"}}); err == nil || !strings.Contains(err.Error(), "00000002.json") {
		t.Errorf("it cannot be known whether the call was made: %v", err)
	}
}

func TestABaseIsOfOneSection(t *testing.T) {
	dir := directory(t)
	s := open(t, dir)
	base := baseOf(t, s, "0")
	write(t, dir, "other.md", text(t, dir, "tone.md"))
	write(t, dir, "index.md", "You help.\n[SECTIONS]\nother\ntone\n")
	if _, err := s.Update(t.Context(), prompt.Update{Section: "0", Operation: sections.Append, Content: "a", Base: base}, prompt.Author{}); err == nil || !strings.Contains(err.Error(), "the section other is not what base") {
		t.Error(err)
	}
}

func TestADirectoryOfAnotherUserIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only the superuser can give a directory away")
	}
	give := func(name string) {
		t.Helper()
		if err := os.Chown(name, 12345, 12345); err != nil {
			t.Fatal(err)
		}
	}
	dir := directory(t)
	give(dir)
	_, err := prompt.Open(t.Context(), dir, prompt.Limits{})
	if err == nil || !strings.Contains(err.Error(), dir+" belongs to the user with the number 12345") {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, ".lock")); !os.IsNotExist(err) {
		t.Errorf("it is touched: %v", err)
	}
	dir = directory(t)
	open(t, dir)
	give(filepath.Join(dir, ".lock"))
	if _, err := prompt.Open(t.Context(), dir, prompt.Limits{}); err == nil || !strings.Contains(err.Error(), ".lock belongs to the user") {
		t.Error(err)
	}
}

// Versions without a prompt are a loss, which no other text may hide.
func TestAPromptThatIsLostIsNotMadeAnew(t *testing.T) {
	dir := directory(t)
	open(t, dir)
	for _, name := range []string{"index.md", "tone.md", "db.md"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := prompt.Create(dir, "You help."); err != nil {
		t.Fatal(err)
	}
	if _, err := prompt.Open(t.Context(), dir, prompt.Limits{}); err == nil || !strings.Contains(err.Error(), "index.md") {
		t.Errorf("%v", err)
	}
}

func TestEditedFilesAreAVersion(t *testing.T) {
	dir := directory(t)
	s := open(t, dir)
	base := baseOf(t, s, "tone")
	write(t, dir, "tone.md", "Be long.\n")
	write(t, dir, "index.md", "You help.\n[SECTIONS]\ntone\nmore")
	write(t, dir, "more.md", "More.")
	if _, err := s.Update(t.Context(), prompt.Update{Section: "tone", Operation: sections.Append, Content: "a", Base: base}, prompt.Author{}); err == nil || !strings.Contains(err.Error(), "changed meanwhile") {
		t.Error(err)
	}
	h, err := s.History(t.Context(), 1)
	if err != nil || h[0].Version != 2 || h[0].Operation != prompt.OperationEdited || !strings.Contains(h[0].Diff, "+Be long.") || !strings.Contains(h[0].Diff, "+++ more.md") {
		t.Errorf("%+v %v", h, err)
	}
	if _, err := s.Revert(t.Context(), prompt.Revert{Version: 1, Base: baseOf(t, s, "")}, prompt.Author{}); err != nil || text(t, dir, "tone.md") != "Be brief.\n" || baseOf(t, s, "db") == "" {
		t.Error(err)
	}
	write(t, dir, "index.md", "[SECTIONS]\ngone")
	if _, err := s.Read(t.Context()); err == nil || !strings.Contains(err.Error(), "index.md:2: the file gone.md is missing") {
		t.Error(err)
	}
}

func TestTwoProcessesLoseNothing(t *testing.T) {
	dir := directory(t)
	stores := []*prompt.Store{open(t, dir), open(t, dir)}
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			s := stores[n%2]
			for {
				now, err := s.Read(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				e, _ := now.Find("tone")
				_, err = s.Update(t.Context(), prompt.Update{Section: "tone", Operation: sections.Append, Content: fmt.Sprintf("line %d", n), Base: e.Base()}, prompt.Author{})
				if err == nil {
					return
				}
				if !strings.Contains(err.Error(), "changed meanwhile") {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	h, err := stores[0].History(t.Context(), 100)
	if err != nil || len(h) != 9 || strings.Count(text(t, dir, "tone.md"), "line ") != 8 {
		t.Errorf("%d versions, %v: %q", len(h), err, text(t, dir, "tone.md"))
	}
}

func TestTheOldestVersionsAreRemoved(t *testing.T) {
	dir := directory(t)
	s, err := prompt.Open(t.Context(), dir, prompt.Limits{Versions: 3})
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		appendTo(t, s, "a", prompt.Author{})
	}
	h, err := s.History(t.Context(), 10)
	if err != nil || len(h) != 3 || h[0].Version != 5 || h[2].Version != 3 || h[2].Diff != "" {
		t.Errorf("%+v %v", h, err)
	}
	if _, err := s.Revert(t.Context(), prompt.Revert{Version: 1, Base: baseOf(t, s, "")}, prompt.Author{}); err == nil || !strings.Contains(err.Error(), "there are 3 to 5") {
		t.Error(err)
	}
}

func TestNoVersionIsRemovedWithoutALimit(t *testing.T) {
	dir := directory(t)
	s := open(t, dir)
	versions := filepath.Join(dir, ".versions")
	first := text(t, versions, "00000001.json")
	for n := range prompt.DefaultVersions {
		write(t, versions, fmt.Sprintf("%08d.json", n+2), strings.Replace(first, `"version": 1`, fmt.Sprintf(`"version": %d`, n+2), 1))
	}
	appendTo(t, s, "a", prompt.Author{})
	if h, err := s.History(t.Context(), prompt.MaxVersions); err != nil || len(h) != prompt.DefaultVersions+2 {
		t.Errorf("%d versions, %v", len(h), err)
	}
}
