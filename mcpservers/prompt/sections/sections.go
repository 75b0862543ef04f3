package sections

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Limits of a prompt. MaxBytes is for all its texts together.
const (
	MaxBytes    = 256 << 10
	MaxSections = 500
	MaxDepth    = 8
)

// Prompt is a system prompt.
type Prompt struct {
	Text     string // before the sections
	Sections []Section
	Files    map[string]string // texts of the files that it was read from, by name; nil if it is of no directory
}

// Section is a named part. A container has sections, and its Text stands before them.
type Section struct {
	Name        string
	Description string // may be empty
	Text        string
	Container   bool
	Sections    []Section
	File        string // in the directory, "" if it is of none
	Title       string // the first line of the file, if it is a title
}

// Entry is a section with its place.
type Entry struct {
	Section
	Number int // from 0, in the order of the text
	Depth  int // 0 for the sections of the prompt itself
}

// Entries lists all sections in the order of the text.
func (p Prompt) Entries() []Entry { return entries(nil, p.Sections, 0) }

func entries(out []Entry, list []Section, depth int) []Entry {
	for _, s := range list {
		out = append(out, Entry{Section: s, Number: len(out), Depth: depth})
		out = entries(out, s.Sections, depth+1)
	}
	return out
}

// Find returns the section with a name or number. The error lists what there is.
func (p Prompt) Find(address string) (Entry, error) {
	all := p.Entries()
	for _, e := range all {
		if e.Name == address || strconv.Itoa(e.Number) == address {
			return e, nil
		}
	}
	return Entry{}, fmt.Errorf("there is no section %q; there are:\n%s", address, List(all))
}

// List is a line for each section: [0] NAME: DESCRIPTION, indented by two spaces for each level.
func List(all []Entry) string {
	if len(all) == 0 {
		return "(no sections)"
	}
	lines := make([]string, len(all))
	for i, e := range all {
		lines[i] = fmt.Sprintf("%s[%d] %s", strings.Repeat("  ", e.Depth), e.Number, e.heading())
	}
	return strings.Join(lines, "\n")
}

func (s Section) heading() string {
	if s.Description == "" {
		return s.Name
	}
	return s.Name + ": " + s.Description
}

// Assemble returns what a model gets.
func (p Prompt) Assemble() string {
	var parts []string
	if text := body(p.Text); text != "" {
		parts = append(parts, text)
	}
	for _, e := range p.Entries() {
		parts = append(parts, strings.TrimRight(strings.Repeat("#", e.Depth+2)+" "+e.heading()+"\n"+body(e.Text), "\n"))
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, "\n\n") + "\n"
}

// Only returns a section with the sections in it, as the model gets them.
func (e Entry) Only() string {
	if !e.Container {
		return e.Text
	}
	return Prompt{Text: e.Text, Sections: e.Sections}.Assemble()
}

// body is a text without the lines around it that are empty.
func body(text string) string { return strings.Trim(text, "\n") }

var name = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

// CheckName returns what is wrong with the name of a section.
func CheckName(s string) error {
	switch _, err := strconv.Atoi(s); {
	case !name.MatchString(s) || len(s) > 64:
		return fmt.Errorf("%.80q: the name of a section has 1 to 64 letters, digits, dots, dashes and underscores, and begins with a letter, a digit or an underscore", s)
	case err == nil:
		return fmt.Errorf("%q: the name of a section is no number: sections have numbers already", s)
	}
	return nil
}
