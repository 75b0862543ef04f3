package sections

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"
)

// titleMark is how the title of a file begins. Deeper headings are text.
const titleMark = "## "

// Marker is the line before the list of sections.
const Marker = "[SECTIONS]"

// The files in which a prompt may begin.
const (
	Index       = "index.md"
	HiddenIndex = ".system_prompt"
)

// Fault is what is wrong with a directory.
type Fault struct {
	File    string // in the directory
	Line    int    // 0: the whole file
	Message string
}

// Error returns FILE:LINE: MESSAGE.
func (f Fault) Error() string {
	if f.Line == 0 {
		return f.File + ": " + f.Message
	}
	return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Message)
}

// Faults are all that is wrong.
type Faults []Fault

// Error returns one fault per line.
func (fs Faults) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.Error()
	}
	return strings.Join(lines, "\n")
}

// Read reads a directory. With faults the prompt is not complete.
func Read(dir fs.FS) (Prompt, Faults) {
	return read(func(file string) (string, error) { return ReadFile(dir, file) })
}

// Of is Read with files by name.
func Of(files map[string]string) (Prompt, Faults) {
	return read(func(file string) (string, error) {
		text, ok := files[file]
		if !ok {
			return "", missing(file)
		}
		return text, nil
	})
}

func read(text func(file string) (string, error)) (Prompt, Faults) {
	r := reader{text: text, listed: map[string]place{}, files: map[string]string{}}
	index := Index
	r.name = func(section string) string { return section + ".md" }
	if _, err := text(Index); errors.Is(err, fs.ErrNotExist) {
		if _, err := text(HiddenIndex); err == nil {
			index = HiddenIndex
			r.name = func(section string) string { return HiddenIndex + "_" + section }
		}
	}
	root := r.section(Section{File: index}, place{index, 0}, nil)
	return Prompt{Text: root.Text, Sections: root.Sections, Files: r.files}, r.faults
}

// place is where a section is listed.
type place struct {
	file string
	line int
}

type reader struct {
	text   func(file string) (string, error)
	name   func(section string) string
	listed map[string]place
	files  map[string]string
	bytes  int
	faults Faults
}

func (r *reader) fault(at place, format string, args ...any) {
	r.faults = append(r.faults, Fault{at.file, at.line, fmt.Sprintf(format, args...)})
}

// section reads the file of s, which is listed at a place, in the sections within.
func (r *reader) section(s Section, at place, within []string) Section {
	text, err := r.read(s.File)
	if err != nil {
		r.fault(at, "%v", err)
		return s
	}
	r.files[s.File] = text
	page := ParsePage(text)
	s.Title, s.Text, s.Container = page.Title, page.Text, page.Container
	for _, item := range page.Items {
		at := place{s.File, item.Line}
		if r.check(item, at, within) {
			s.Sections = append(s.Sections, r.section(Section{Name: item.Name, Description: item.Description, File: r.name(item.Name)}, at, append(slices.Clip(within), item.Name)))
		}
	}
	return s
}

// check reports whether a listed section may be read.
func (r *reader) check(item Item, at place, within []string) bool {
	before, twice := r.listed[item.Name]
	switch err := CheckName(item.Name); {
	case err != nil:
		r.fault(at, "%v", err)
	case r.name(item.Name) == Index:
		r.fault(at, "%s: %s is where the prompt begins", item.Name, Index)
	case slices.Contains(within, item.Name):
		r.fault(at, "the section %s contains itself: %s", item.Name, strings.Join(append(slices.Clip(within), item.Name), " > "))
	case twice:
		r.fault(at, "the section %s is listed in %s:%d already", item.Name, before.file, before.line)
	case len(within) == MaxDepth:
		r.fault(at, "the section %s is more than %d levels deep", item.Name, MaxDepth)
	case len(r.listed) == MaxSections:
		r.fault(at, "there are more than %d sections", MaxSections)
	default:
		r.listed[item.Name] = at
		return true
	}
	return false
}

func (r *reader) read(file string) (string, error) {
	text, err := r.text(file)
	if r.bytes += len(text); err == nil && r.bytes > MaxBytes {
		err = fmt.Errorf("with %s the prompt has more than %d bytes", file, MaxBytes)
	}
	return text, err
}

// ReadFile reads a file of a prompt: without the mark with which some editors begin UTF-8, and with \n at the
// end of lines.
func ReadFile(dir fs.FS, file string) (string, error) {
	info, err := fs.Stat(dir, file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", missing(file)
	}
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() { // a pipe would be waited for
		return "", fmt.Errorf("%s is not a regular file", file)
	}
	f, err := dir.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	switch {
	case err != nil:
		return "", err
	case len(data) > MaxBytes:
		return "", fmt.Errorf("the file %s has more than %d bytes", file, MaxBytes)
	case !utf8.Valid(data):
		return "", fmt.Errorf("the file %s is no text in UTF-8", file)
	}
	return strings.ReplaceAll(strings.TrimPrefix(string(data), "\uFEFF"), "\r\n", "\n"), nil
}

func missing(file string) error {
	return fmt.Errorf("the file %s is missing%w", file, silent{fs.ErrNotExist})
}

// silent is an error that says nothing in a text.
type silent struct{ error }

func (silent) Error() string   { return "" }
func (s silent) Unwrap() error { return s.error }

// Page is a file of a prompt.
type Page struct {
	Title     string // the first line, if it begins with ## and a space
	Text      string
	Container bool
	Items     []Item // of a container
}

// Item is a line of an index.
type Item struct {
	Name, Description string
	Line              int
}

// ParsePage parses the text of a file.
func ParsePage(text string) Page {
	var p Page
	line := 1
	if strings.HasPrefix(text, titleMark) {
		p.Title, text, _ = strings.Cut(text, "\n")
		line++
	}
	lines := strings.Split(text, "\n")
	marker := slices.IndexFunc(lines, isMarker)
	if marker < 0 {
		p.Text = text
		return p
	}
	p.Container, p.Text = true, strings.Join(lines[:marker], "\n")
	for i, l := range lines[marker+1:] {
		if strings.TrimSpace(l) == "" {
			continue
		}
		name, description, _ := strings.Cut(l, ":")
		p.Items = append(p.Items, Item{strings.TrimSpace(name), strings.TrimSpace(description), line + marker + 1 + i})
	}
	return p
}

func isMarker(line string) bool { return strings.TrimSpace(line) == Marker }
