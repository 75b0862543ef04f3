package config

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"strconv"

	"gopkg.in/yaml.v3"

	"agent-stop-and-go/config/survey"
)

// maxFile is far above any sensible file and keeps parsing under a second.
const maxFile = 1 << 20

// Load reads a file, the rules that it includes and the files of its prompt. The error is an Errors with all mistakes.
func Load(path string) (*Config, error) {
	data, err := read(path)
	if err != nil {
		return nil, fmt.Errorf("failed to read config file: %w", err)
	}
	c, err := Parse(path, data)
	if err != nil {
		return nil, err
	}
	if errs := append(c.include(), c.readPrompt(context.Background())...); len(errs) > 0 {
		return nil, errs
	}
	return c, nil
}

func read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}

// Parse parses data like Load; name is the file name in errors.
func Parse(name string, data []byte) (*Config, error) {
	r := newReport(name, map[string]int{})
	c := Default()
	c.file, c.lines = name, r.lines
	root := parseDocument(r, data)
	if root != nil && surveyed(r, root) {
		d := decoder{report: r}
		d.value("", root, reflect.ValueOf(c).Elem())
		c.check(r)
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	return c, nil
}

// parseDocument returns the value of the only document, or nil if there is none or it is
// invalid.
func parseDocument(r *report, data []byte) *yaml.Node {
	if len(data) > maxFile {
		r.atLine(0, "", "failed to parse config file: it is larger than %d bytes", maxFile)
		return nil
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if !errors.Is(err, io.EOF) {
			syntaxError(r, data, err)
		}
		return nil
	}
	switch err := dec.Decode(&second); {
	case err == nil:
		r.atLine(second.Line, "", "failed to parse config file: a second YAML document begins here; one is allowed")
		return nil
	case !errors.Is(err, io.EOF):
		syntaxError(r, data, err)
		return nil
	}
	if len(doc.Content) == 0 {
		return nil
	}
	return doc.Content[0]
}

var (
	yamlError     = regexp.MustCompile(`^yaml: (?:line (\d+): )?((?s:.*))$`)
	unknownAnchor = regexp.MustCompile(`^unknown anchor '(.+)' referenced$`)
)

func syntaxError(r *report, data []byte, err error) {
	line, message := 0, err.Error()
	if m := yamlError.FindStringSubmatch(message); m != nil {
		line, _ = strconv.Atoi(m[1]) // no number: no line
		message = m[2]
	}
	if m := unknownAnchor.FindStringSubmatch(message); m != nil { // has no line
		before, _, _ := bytes.Cut(data, []byte("*"+m[1]))
		line = bytes.Count(before, []byte("\n")) + 1
	}
	r.atLine(line, "", "failed to parse config file: %s", message)
}

// surveyed reports whether the document is safe to walk.
func surveyed(r *report, root *yaml.Node) bool {
	p := survey.Of(root, maxNodeDepth)
	if p != nil {
		r.atLine(p.Line, "", "failed to parse config file: %s", p.Text)
	}
	return p == nil
}
