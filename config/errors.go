package config

import (
	"fmt"
	"slices"
	"strings"
)

type Error struct {
	File    string
	Line    int    // 0 if the mistake is in no line, as for a missing file
	Path    string // such as mcp_servers[1].url; empty for the whole file
	Message string
}

// Error returns "file:line: path: message", without the parts that are unknown.
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		if e.Line > 0 {
			fmt.Fprintf(&b, ":%d", e.Line)
		}
		b.WriteString(": ")
	}
	if e.Path != "" {
		b.WriteString(e.Path + ": ")
	}
	return b.String() + e.Message
}

// Errors are all mistakes in a file, sorted by line.
type Errors []*Error

// Error returns one mistake per line.
func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As find an *Error.
func (es Errors) Unwrap() []error {
	errs := make([]error, len(es))
	for i, e := range es {
		errs[i] = e
	}
	return errs
}

// report collects mistakes while a file is read.
type report struct {
	file   string
	lines  map[string]int  // key path → line; has every key of the file
	failed map[string]bool // key paths whose value could not be read
	errs   Errors
}

func newReport(file string, lines map[string]int) *report {
	return &report{file: file, lines: lines, failed: map[string]bool{}}
}

// atLine records a mistake at a line.
func (r *report) atLine(line int, path, format string, args ...any) {
	r.failed[path] = true
	r.errs = append(r.errs, &Error{File: r.file, Line: line, Path: path, Message: fmt.Sprintf(format, args...)})
}

// at records a mistake at a key, or at the nearest enclosing key that the file has. A second
// mistake at the same key is ignored.
func (r *report) at(path, format string, args ...any) {
	if !r.failed[path] {
		r.atLine(r.line(path), path, format, args...)
	}
}

func (r *report) line(path string) int {
	for {
		if line, ok := r.lines[path]; ok {
			return line
		}
		i := strings.LastIndexAny(path, ".[")
		if i < 0 {
			return 0
		}
		path = path[:i]
	}
}

// holds reports whether the file sets a text, even one that could not be read.
func (r *report) holds(path, value string) bool { return value != "" || r.failed[path] }

func (r *report) err() error {
	if len(r.errs) == 0 {
		return nil
	}
	return r.sorted()
}

// sorted returns the mistakes, sorted by line.
func (r *report) sorted() Errors {
	slices.SortStableFunc(r.errs, func(a, b *Error) int { return a.Line - b.Line })
	return r.errs
}

// texts returns one line per mistake, sorted by line.
func (r *report) texts() []string {
	var lines []string
	for _, e := range r.sorted() {
		lines = append(lines, e.Error())
	}
	return lines
}
