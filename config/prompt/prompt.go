package prompt

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"agent-stop-and-go/mcpservers/prompt/sections"
	"agent-stop-and-go/workflows/contract/promptversion"
)

// Prompt is the system prompt. A file may have its Text alone instead of the mapping.
type Prompt struct {
	Text      string    `yaml:"text" jsonschema_description:"The text, or with sections what stands before them."`
	Sections  []Section `yaml:"sections" jsonschema_description:"Named sections, in the order in which the model gets them."`
	Server    string    `yaml:"server" jsonschema_description:"A tool server of mcp_servers that has the prompt (mcp-prompt), instead of sections and directory. New conversations read it there. While it cannot be read they have text, and without text they are refused."`
	Directory string    `yaml:"directory" jsonschema_description:"A directory with the prompt, instead of text and sections: it begins in index.md, whose lines after [SECTIONS] are NAME: DESCRIPTION for each section, and NAME.md is its text, or again an index. Relative to this file."`

	path    string                 // of the directory, once it was read
	tree    *sections.Prompt       // as it was read; nil before
	version *promptversion.Version // of a directory or a server
	text    string                 // of a server
}

// Section is a named part of a prompt.
type Section struct {
	Name        string    `yaml:"name" jsonschema:"required,minLength=1,maxLength=64,pattern=^[A-Za-z0-9_][A-Za-z0-9_.-]*$" jsonschema_description:"Its name, unique in the prompt."`
	Description string    `yaml:"description" jsonschema_description:"What it is about, for its heading."`
	Text        string    `yaml:"text" jsonschema_description:"Its text, or with sections what stands before them."`
	File        string    `yaml:"file" jsonschema_description:"A file with its text, instead of text. Relative to this file."`
	Sections    []Section `yaml:"sections" jsonschema_description:"The sections in it."`
}

// Fault is what is wrong, at a key below prompt or in a file.
type Fault struct {
	Key     string // such as .sections[0].file, "" for the whole prompt
	File    string // "": in the agent's file
	Line    int    // in File
	Message string
}

// IsZero reports whether there is no prompt.
func (p Prompt) IsZero() bool {
	return p.Text == "" && p.Directory == "" && p.Server == "" && len(p.Sections) == 0
}

// Check returns what is wrong with the keys.
func (p Prompt) Check() (out []Fault) {
	c := checker{seen: map[string]bool{}}
	if p.Directory != "" && (p.Text != "" || p.Server != "" || len(p.Sections) > 0) {
		c.fault(".directory", "must stand without text, server and sections")
	}
	if p.Server != "" && len(p.Sections) > 0 {
		c.fault(".server", "must stand without sections")
	}
	c.sections("", p.Sections, 0)
	return c.out
}

type checker struct {
	seen map[string]bool
	out  []Fault
}

func (c *checker) fault(key, format string, args ...any) {
	c.out = append(c.out, Fault{Key: key, Message: fmt.Sprintf(format, args...)})
}

func (c *checker) sections(key string, list []Section, depth int) {
	for i, s := range list {
		at := fmt.Sprintf("%s.sections[%d]", key, i)
		switch err := sections.CheckName(s.Name); {
		case s.Name == "":
			c.fault(at+".name", "is required")
		case err != nil:
			c.fault(at+".name", "%v", err)
		case c.seen[s.Name]:
			c.fault(at+".name", "duplicate name %q: sections are addressed by their names alone", s.Name)
		}
		c.seen[s.Name] = true
		switch {
		case s.File != "" && (s.Text != "" || len(s.Sections) > 0):
			c.fault(at+".file", "must stand without text and sections")
		case s.File == "" && s.Text == "" && len(s.Sections) == 0:
			c.fault(at, "must have one of text, file and sections")
		}
		if depth == sections.MaxDepth {
			c.fault(at, "is more than %d levels deep", sections.MaxDepth)
			return
		}
		c.sections(at, s.Sections, depth+1)
	}
	if depth == 0 && len(c.seen) > sections.MaxSections {
		c.fault("", "must have at most %d sections", sections.MaxSections)
	}
}

// Read reads the files of the prompt, whose names are relative to dir. ctx bounds the wait for a change of them.
func (p *Prompt) Read(ctx context.Context, dir string) []Fault {
	if p.Directory != "" {
		return p.readDirectory(ctx, dir)
	}
	r := reader{dir: dir}
	tree := sections.Prompt{Text: p.Text, Sections: r.sections("", p.Sections)}
	p.tree = &tree
	if size := len(tree.Assemble()); len(p.Sections) > 0 && size > sections.MaxBytes {
		r.out = append(r.out, Fault{Message: fmt.Sprintf("has %d bytes, more than %d", size, sections.MaxBytes)})
	}
	return r.out
}

func (p *Prompt) readDirectory(ctx context.Context, dir string) (out []Fault) {
	name := within(dir, p.Directory)
	p.path = name
	unlock, err := lock(ctx, name)
	if err != nil {
		return []Fault{{Key: ".directory", Message: err.Error()}}
	}
	defer unlock()
	tree, faults := sections.Read(sections.Directory(name))
	for _, f := range faults {
		out = append(out, Fault{File: filepath.Join(name, f.File), Line: f.Line, Message: f.Message})
	}
	p.tree = &tree
	p.version = versionOf("directory", sections.NewReading(tree, number(name, tree.Files)))
	return out
}

// lockTime bounds how long a change of a directory is waited for.
const lockTime = 2 * time.Second

// lock keeps an mcp-prompt from changing a directory, if there is one.
func lock(ctx context.Context, dir string) (unlock func(), err error) {
	path := filepath.Join(dir, ".lock")
	if _, err := os.Stat(path); err != nil {
		return func() {}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, lockTime)
	defer cancel()
	l := flock.New(path, flock.SetFlag(os.O_RDONLY))
	if ok, err := l.TryRLockContext(ctx, time.Millisecond); err != nil || !ok {
		return nil, fmt.Errorf("it cannot be locked: %w", err)
	}
	return func() { _ = l.Close() }, nil
}

// Path is the directory, once the prompt was read; "" if it is in none.
func (p Prompt) Path() string { return p.path }

type reader struct {
	dir string
	out []Fault
}

func (r *reader) sections(key string, list []Section) (out []sections.Section) {
	for i, s := range list {
		at := fmt.Sprintf("%s.sections[%d]", key, i)
		section := s.unread()
		if s.File != "" {
			section.Title, section.Text = r.file(at+".file", within(r.dir, s.File))
		}
		section.Sections = r.sections(at, s.Sections)
		out = append(out, section)
	}
	return out
}

func (r *reader) file(key, name string) (title, text string) {
	text, err := sections.ReadFile(sections.Directory(filepath.Dir(name)), filepath.Base(name))
	if err != nil {
		r.out = append(r.out, Fault{Key: key, Message: err.Error()})
		return "", ""
	}
	page := sections.ParsePage(text)
	if page.Container {
		r.out = append(r.out, Fault{Key: key, Message: fmt.Sprintf("%s has sections, which only a directory may have in files; list them here", filepath.Base(name))})
	}
	return page.Title, page.Text
}

func within(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// Tree returns the sections, as Read has read them. Those in files are empty before.
func (p Prompt) Tree() sections.Prompt {
	if p.tree != nil {
		return *p.tree
	}
	return sections.Prompt{Text: p.Text, Sections: unread(p.Sections)}
}

func unread(list []Section) (out []sections.Section) {
	for _, s := range list {
		out = append(out, s.unread())
	}
	return out
}

// unread is a section without the text of its file.
func (s Section) unread() sections.Section {
	return sections.Section{Name: s.Name, Description: s.Description, Text: s.Text, File: s.File, Container: len(s.Sections) > 0, Sections: unread(s.Sections)}
}

// System returns what the model gets: a text alone as it is written.
func (p Prompt) System() string {
	if p.text != "" {
		return p.text
	}
	if p.Directory == "" && len(p.Sections) == 0 {
		return p.Text
	}
	return p.Tree().Assemble()
}
