package config

import (
	"fmt"
	"slices"
	"strings"
)

// Error is one mistake in a file.
type Error struct {
	File    string
	Line    int    // 0 when the mistake is in no line, as in a missing file
	Path    string // such as mcp_servers[1].url; empty for the file as a whole
	Message string
}

// Error is "file:line: path: message", without the parts that are unknown.
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

// Errors is every mistake in a file, sorted by line.
type Errors []*Error

// Error is one mistake a line.
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
	lines  map[string]int  // key path → line; holds every key the file sets
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

// at records a mistake at a key, or at the nearest key around it that the file
// holds. One mistake per key is enough.
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

// holds reports whether a text was given, be it one that could not be read.
func (r *report) holds(path, value string) bool { return value != "" || r.failed[path] }

func (r *report) err() error {
	if len(r.errs) == 0 {
		return nil
	}
	return r.sorted()
}

// sorted are the mistakes by line.
func (r *report) sorted() Errors {
	slices.SortStableFunc(r.errs, func(a, b *Error) int { return a.Line - b.Line })
	return r.errs
}

// texts are the mistakes by line, one line each.
func (r *report) texts() []string {
	var lines []string
	for _, e := range r.sorted() {
		lines = append(lines, e.Error())
	}
	return lines
}
