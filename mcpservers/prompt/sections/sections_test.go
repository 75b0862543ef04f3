package sections_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"agent-stop-and-go/mcpservers/prompt/sections"

	"github.com/google/go-cmp/cmp"
)

func files(text map[string]string) fstest.MapFS {
	dir := fstest.MapFS{}
	for name, t := range text {
		dir[name] = &fstest.MapFile{Data: []byte(t)}
	}
	return dir
}

func TestAPromptIsAssembledInTheOrderOfItsIndex(t *testing.T) {
	const want = "You help.\n\n## tone: How to write\nBe brief.\nBe kind.\n\n## tools\nMind this:\n\n### db: The database\nRead first.\n\n## empty\n"
	for name, dir := range map[string]fstest.MapFS{
		"index": files(map[string]string{
			"index.md": "You help.\n\n[SECTIONS]\ntone: How to write\n\ntools\nempty:\n", "tone.md": "## Tone of all texts\nBe brief.\r\nBe kind.\n",
			"tools.md": "Mind this:\n[SECTIONS]\ndb: The database", "db.md": "\nRead first.\n\n", "empty.md": "", "other.md": "x",
		}),
		"hidden files": files(map[string]string{
			".system_prompt": "You help.\n\n[SECTIONS]\ntone: How to write\ntools:\nempty:", ".system_prompt_tone": "Be brief.\nBe kind.\n",
			".system_prompt_tools": "## Tools\nMind this:\n[SECTIONS]\ndb: The database", ".system_prompt_db": "Read first.", ".system_prompt_empty": "",
		}),
	} {
		p, faults := sections.Read(dir)
		if len(faults) > 0 {
			t.Fatalf("%s: %v", name, faults)
		}
		if diff := cmp.Diff(want, p.Assemble()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if got, want := sections.List(p.Entries()), "[0] tone: How to write\n[1] tools\n  [2] db: The database\n[3] empty"; got != want {
			t.Errorf("%s: %s", name, got)
		}
		for _, address := range []string{"db", "2"} {
			if e, err := p.Find(address); err != nil || e.Name != "db" || e.Depth != 1 {
				t.Errorf("%s: %s: %+v %v", name, address, e, err)
			}
		}
		if _, err := p.Find("dbs"); err == nil || !strings.Contains(err.Error(), "[2] db: The database") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFilesByNameAreReadLikeADirectory(t *testing.T) {
	p, faults := sections.Of(map[string]string{"index.md": "[SECTIONS]\na", "a.md": "x"})
	if len(faults) > 0 || p.Assemble() != "## a\nx\n" {
		t.Errorf("%q %v", p.Assemble(), faults)
	}
	if _, faults := sections.Of(nil); faults.Error() != "index.md: the file index.md is missing" {
		t.Errorf("%v", faults)
	}
}

func TestFaultsOfADirectoryHaveALine(t *testing.T) {
	_, faults := sections.Read(files(map[string]string{
		"index.md": "x\n[SECTIONS]\na: A\nb\na\ngone\n../etc\nindex\n7\n", "a.md": "## title\n[SECTIONS]\nc", "b.md": "ok", "c.md": "\n[SECTIONS]\n\na", "bad.md": "",
	}))
	want := `c.md:4: the section a contains itself: a > c > a
index.md:5: the section a is listed in index.md:3 already
index.md:6: the file gone.md is missing
index.md:7: "../etc": the name of a section has 1 to 64 letters, digits, dots, dashes and underscores, and begins with a letter, a digit or an underscore
index.md:8: index: index.md is where the prompt begins
index.md:9: "7": the name of a section is no number: sections have numbers already`
	if diff := cmp.Diff(want, faults.Error()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, faults := sections.Read(files(nil)); faults.Error() != "index.md: the file index.md is missing" {
		t.Errorf("%v", faults)
	}
	large := files(map[string]string{"index.md": "[SECTIONS]\na\nb", "a.md": strings.Repeat("a", sections.MaxBytes-20), "b.md": strings.Repeat("b", 30)})
	if _, faults := sections.Read(large); !strings.HasPrefix(faults.Error(), "index.md:3: with b.md the prompt has more than") {
		t.Errorf("%v", faults)
	}
	if _, faults := sections.Read(files(map[string]string{"index.md": "\xff"})); !strings.Contains(faults.Error(), "UTF-8") {
		t.Errorf("%v", faults)
	}
}

func TestOperationsChangeTheTextOfASection(t *testing.T) {
	for _, c := range []struct {
		o                           sections.Operation
		text, content, target, want string
		problem                     string
	}{
		{o: sections.Append, text: "a", content: "b", want: "a\n\nb"},
		{o: sections.Append, text: "a\n", content: "b", want: "a\n\nb"},
		{o: sections.Append, text: "", content: "b", want: "b"},
		{o: sections.Prepend, text: "a\n", content: "b", want: "b\n\na\n"},
		{o: sections.Replace, text: "a b a", content: "c", target: "a", want: "c b a"},
		{o: sections.Replace, text: "a", content: "c", target: "A", problem: `the target is not in the section: "A"`},
		{o: sections.Delete, text: "a x\nb\nx", target: "x", want: "b\n"},
		{o: sections.Delete, text: "1 a\nb 2\n3\n", target: "a\nb", want: "3\n"},
		{o: sections.Delete, text: "a\nb\nc", target: "a\n", want: "b\nc"},
		{o: sections.Overwrite, text: "a", content: "b", want: "b"},
		{o: sections.Overwrite, text: "a", content: " \n", problem: "overwrite needs a content"},
		{o: sections.Append, text: "a", content: "b", target: "a", problem: "append takes no target"},
		{o: sections.Replace, text: "a", content: "b", problem: "replace needs a target"},
		{o: sections.Delete, text: "a", content: "b", target: "a", problem: "delete takes a target, and no content"},
		{o: "move", text: "a", problem: `the operation "move" is none of append, prepend, replace, delete and overwrite`},
		{o: sections.Append, text: "a", content: "x\n [SECTIONS]\ny", problem: "a section must not contain the line [SECTIONS]"},
		{o: sections.Append, text: "a", content: "x\r", problem: "a section must not contain NUL or carriage return characters"},
		{o: sections.Append, text: "a", content: strings.Repeat("x", sections.MaxBytes), problem: "the section would have more than 262144 bytes"},
	} {
		got, err := sections.Apply(c.o, c.text, c.content, c.target)
		if c.problem != "" {
			if err == nil || err.Error() != c.problem {
				t.Errorf("%s of %.20q in %q: %v", c.o, c.content, c.text, err)
			}
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("%s of %q in %q: %q %v", c.o, c.content, c.text, got, err)
		}
	}
}

func TestATextThatBeginsLikeATitleStaysAText(t *testing.T) {
	for _, s := range []sections.Section{{Name: "a", Title: "## A"}, {Name: "a"}} {
		for _, text := range []string{"## x\ny", "### x\ny", "##", "x", "", "\n"} {
			if got := sections.ParsePage(s.Page(text)); got.Text != text {
				t.Errorf("%+v: %q became %q", s, text, got.Text)
			}
		}
	}
}
