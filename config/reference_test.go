package config_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/invopop/jsonschema"

	"agent-stop-and-go/config"
)

// The generated reference is between these lines of README.md.
const (
	referenceBegin = "<!-- go test ./config -update writes what follows from the schema -->\n"
	referenceEnd   = "<!-- end of the reference -->\n"
)

func TestTheReferenceIsInStepWithTheSchema(t *testing.T) {
	file, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(file), referenceBegin)
	got, after, ends := strings.Cut(rest, referenceEnd)
	if !begins || !ends {
		t.Fatal("README.md has no place for the reference")
	}
	want := newReference(t).markdown()
	if *update {
		text := before + referenceBegin + want + referenceEnd + after
		if err := os.WriteFile("README.md", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("run go test ./config -update (-want +got):\n%s", diff)
	}
}

// reference describes every key of the YAML file: a table for each kind of object, in the
// order of the schema.
type reference struct {
	schema   *jsonschema.Schema
	sections []*referenceSection
}

// referenceSection is the table of one kind of object. Its first path is its heading.
type referenceSection struct {
	of     *jsonschema.Schema
	name   string
	paths  []string
	intro  string
	column func(key string) string // an additional column, or nil
}

func newReference(t *testing.T) *reference {
	t.Helper()
	data, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	r := &reference{schema: new(jsonschema.Schema)}
	if err := json.Unmarshal(data, r.schema); err != nil {
		t.Fatal(err)
	}
	root := &referenceSection{of: r.schema, paths: []string{"The file"}}
	r.sections = append(r.sections, root)
	r.walk(root, "")
	return r
}

// walk visits the keys of an object and of the objects in it.
func (r *reference) walk(s *referenceSection, prefix string) {
	for pair := s.of.Properties.Oldest(); pair != nil; pair = pair.Next() {
		if name, suffix := object(pair.Value); name != "" {
			r.visit(name, prefix+pair.Key+suffix)
		}
	}
}

// visit records where a kind of object occurs in the file.
func (r *reference) visit(name, path string) {
	if known := slices.IndexFunc(r.sections, func(s *referenceSection) bool { return s.name == name }); known >= 0 {
		r.sections[known].paths = append(r.sections[known].paths, path)
		return
	}
	s := &referenceSection{of: r.schema.Definitions[name], name: name, paths: []string{path}}
	if name == "Node" {
		s.intro = "*Types* lists the types of nodes that may have a key.\n\n"
		s.column = nodeTypesOf
	}
	r.sections = append(r.sections, s)
	r.walk(s, path+".")
}

// object returns the kind of object that a schema contains, and the suffix of a key that
// contains several.
func object(of *jsonschema.Schema) (name, suffix string) {
	switch {
	case of.Ref != "":
		return strings.TrimPrefix(of.Ref, "#/$defs/"), ""
	case len(of.OneOf) > 1: // a word, or a list
		return object(of.OneOf[1])
	case of.Items != nil && of.Items.Ref != "":
		return strings.TrimPrefix(of.Items.Ref, "#/$defs/"), "[]"
	case of.AdditionalProperties != nil && of.AdditionalProperties.Ref != "":
		return strings.TrimPrefix(of.AdditionalProperties.Ref, "#/$defs/"), ".NAME"
	}
	return "", ""
}

func (r *reference) markdown() string {
	var w bytes.Buffer
	for _, s := range r.sections {
		fmt.Fprintf(&w, "\n### %s\n\n", s.paths[0])
		if len(s.paths) > 1 {
			fmt.Fprintf(&w, "The same keys are in `%s`.\n\n", strings.Join(s.paths[1:], "`, `"))
		}
		w.WriteString(s.intro)
		if names := alternatives(s.of); len(names) > 0 {
			fmt.Fprintf(&w, "Exactly one of `%s` is required.\n\n", strings.Join(names, "` and `"))
		}
		r.table(&w, s)
	}
	return w.String() + "\n"
}

func alternatives(of *jsonschema.Schema) (names []string) {
	for _, one := range of.OneOf {
		names = append(names, one.Required...)
	}
	return names
}

func (r *reference) table(w *bytes.Buffer, s *referenceSection) {
	heads := []string{"Key", "Type", "Default", "Meaning"}
	if s.column != nil {
		heads = slices.Insert(heads, 3, "Types")
	}
	fmt.Fprintf(w, "| %s |\n|%s\n", strings.Join(heads, " | "), strings.Repeat("---|", len(heads)))
	for pair := s.of.Properties.Oldest(); pair != nil; pair = pair.Next() {
		cells := []string{"`" + pair.Key + "`", r.typeOf(pair.Value), defaultOf(s.of, pair.Key, pair.Value), pair.Value.Description}
		if s.column != nil {
			cells = slices.Insert(cells, 3, s.column(pair.Key))
		}
		for i := range cells {
			cells[i] = strings.ReplaceAll(cells[i], "|", `\|`)
		}
		fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | "))
	}
}

// typeOf describes the type of a key.
func (r *reference) typeOf(of *jsonschema.Schema) string {
	if name, suffix := object(of); name != "" {
		i := slices.IndexFunc(r.sections, func(s *referenceSection) bool { return s.name == name })
		kind := map[string]string{"": "object", "[]": "list", ".NAME": "mapping"}[suffix]
		link := fmt.Sprintf("[%s](#%s)", kind, anchor(r.sections[i].paths[0]))
		if len(of.OneOf) > 1 && len(of.OneOf[0].Enum) > 0 {
			return oneOf(of.OneOf[0].Enum) + " or " + link
		}
		if len(of.OneOf) > 1 && of.OneOf[0].Const == nil {
			return r.typeOf(of.OneOf[0]) + " or " + link
		}
		if len(of.OneOf) > 1 {
			return fmt.Sprintf("`%v` or %s", of.OneOf[0].Const, link)
		}
		return link
	}
	switch {
	case len(of.Enum) > 0:
		return oneOf(of.Enum)
	case of.Items != nil:
		return "list of texts"
	case of.AdditionalProperties != nil && of.AdditionalProperties.Items != nil:
		return "mapping of lists of texts"
	case of.AdditionalProperties != nil:
		return "mapping of texts"
	case strings.HasPrefix(of.Pattern, "^([0-9]+"):
		return "duration"
	}
	words := map[string]string{"string": "text", "boolean": "true or false", "integer": "whole number", "number": "number", "object": "JSON Schema"}
	return words[of.Type] + bounds(of)
}

func oneOf(values []any) string {
	var names []string
	for _, v := range values {
		names = append(names, fmt.Sprintf("`%v`", v))
	}
	return strings.Join(names, ", ")
}

func bounds(of *jsonschema.Schema) (text string) {
	switch {
	case of.Minimum != "" && of.Maximum != "":
		text = fmt.Sprintf(", %s to %s", of.Minimum, of.Maximum)
	case of.ExclusiveMinimum != "":
		text = fmt.Sprintf(", above %s, to %s", of.ExclusiveMinimum, of.Maximum)
	}
	if of.Pattern != "" {
		text += ", `" + of.Pattern + "`"
	}
	if of.MaxLength != nil {
		text += fmt.Sprintf(", at most %d characters", *of.MaxLength)
	}
	return text
}

func defaultOf(parent *jsonschema.Schema, key string, of *jsonschema.Schema) string {
	switch {
	case slices.Contains(parent.Required, key):
		return "required"
	case of.Default == nil:
		return ""
	}
	return fmt.Sprintf("`%v`", of.Default)
}

// anchor returns the fragment of a heading's URL on code hosts.
func anchor(heading string) string {
	kept := strings.Map(func(c rune) rune {
		switch {
		case c == ' ':
			return '-'
		case strings.ContainsRune("[].,`", c):
			return -1
		}
		return c
	}, heading)
	return strings.ToLower(kept)
}

// nodeTypesOf returns the types of nodes that the loader allows a key for.
func nodeTypesOf(key string) string {
	var types []string
	for _, nodeType := range nodeTypes {
		_, err := config.Parse("f.yaml", []byte("agent: {name: n, type: "+nodeType+", "+key+": }"))
		if err == nil || !strings.Contains(err.Error(), "does not fit") {
			types = append(types, nodeType)
		}
	}
	if len(types) == len(nodeTypes) || key == "name" || key == "type" {
		return "all"
	}
	return strings.Join(types, ", ")
}

func TestCodeInTheREADMEIsThatOfExamples(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	examples, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllSubmatch(readme, -1)
	if len(blocks) == 0 {
		t.Error("README.md quotes no example")
	}
	for _, block := range blocks {
		if !bytes.Contains(examples, block[1]) {
			t.Errorf("example_test.go does not have\n%s", block[1])
		}
	}
}
