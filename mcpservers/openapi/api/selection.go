package api

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/getkin/kin-openapi/openapi3"
)

// Selection selects operations: those of Include that are not in Exclude.
type Selection struct {
	Include  Pattern `yaml:"include"` // empty for all
	Exclude  Pattern `yaml:"exclude"`
	ReadOnly bool    `yaml:"read_only"` // only GET and HEAD, or what x-mcp says
}

// Pattern matches operations that have one of the tags, an operation id, the name of a tool or a path. Ids,
// names and paths may have * and paths **.
type Pattern struct {
	Tags       []string `yaml:"tags"`
	Operations []string `yaml:"operations"`
	Paths      []string `yaml:"paths"`
}

// Validate reports malformed patterns.
func (p Pattern) Validate() error {
	var errs []error
	for _, pattern := range slices.Concat(p.Operations, p.Paths) {
		if !doublestar.ValidatePattern(pattern) {
			errs = append(errs, fmt.Errorf("the pattern %q is malformed", pattern))
		}
	}
	return errors.Join(errs...)
}

// entry is an entry of a pattern.
type entry struct {
	list, text string // list is tags, operations or paths
	matched    bool   // an operation
}

// selector applies a selection, and records which entries matched something.
type selector struct{ include, exclude []*entry }

func (s Selection) selector() selector { return selector{s.Include.entries(), s.Exclude.entries()} }

func (p Pattern) entries() (all []*entry) {
	for list, texts := range map[string][]string{"tags": p.Tags, "operations": p.Operations, "paths": p.Paths} {
		for _, text := range texts {
			all = append(all, &entry{list: list, text: text})
		}
	}
	return all
}

// takes reports whether an operation, whose tool has a name, is selected.
func (s selector) takes(o *openapi3.Operation, name, at string) bool {
	in, out := matches(s.include, o, name, at), matches(s.exclude, o, name, at)
	return (in || len(s.include) == 0) && !out
}

// matches tries all entries, also after a match, and records for each whether it matched.
func matches(all []*entry, o *openapi3.Operation, name, at string) (any bool) {
	for _, e := range all {
		if e.matches(o, name, at) {
			e.matched, any = true, true
		}
	}
	return any
}

func (e *entry) matches(o *openapi3.Operation, name, at string) bool {
	switch e.list {
	case "tags":
		return slices.Contains(o.Tags, e.text)
	case "paths":
		ok, _ := doublestar.Match(e.text, at)
		return ok
	}
	ofID, _ := path.Match(e.text, o.OperationID)
	ofName, _ := path.Match(e.text, name)
	return ofID || ofName
}

// unmatched reports entries that matched no operation: an exclude that is misspelt excludes nothing.
func (s selector) unmatched() error {
	var errs []error
	for key, all := range map[string][]*entry{"include": s.include, "exclude": s.exclude} {
		for _, e := range all {
			if !e.matched {
				errs = append(errs, fmt.Errorf("%s.%s: %q matches no operation of the document", key, e.list, e.text))
			}
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}
