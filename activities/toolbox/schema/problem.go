package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// maxProblems limits how many problems are reported at once.
const maxProblems = 3

// Problem describes in one line what does not fit, or "".
func (s *Schema) Problem(value any) string {
	if s.compiled == nil {
		return ""
	}
	if hasHugeNumber(value) {
		return "arguments: a number in them is too long or too large"
	}
	err := s.budget.check(s.compiled, value)
	var invalid *jsonschema.ValidationError
	switch {
	case err == nil, errors.Is(err, errTooManySteps): // the server will report it
		return ""
	case !errors.As(err, &invalid):
		return "the arguments do not fit the schema"
	}
	var p problems
	p.collect(s, invalid)
	if len(p.lines) > maxProblems {
		p.lines = append(p.lines[:maxProblems], "…")
	}
	return strings.Join(p.lines, "; ")
}

type problems struct{ lines []string }

func (p *problems) add(line string) {
	if !slices.Contains(p.lines, line) {
		p.lines = append(p.lines, line)
	}
}

// collect finds the causes. A choice of types is one problem, not one for each branch.
func (p *problems) collect(s *Schema, e *jsonschema.ValidationError) {
	if want, got := choice(e); len(want) > 1 {
		p.add(fmt.Sprintf("%s: expected %s, got %s", place(e), strings.Join(want, " or "), got))
		return
	}
	if len(e.Causes) == 0 {
		for _, line := range s.explain(e) {
			p.add(line)
		}
		return
	}
	causes := slices.Clone(e.Causes)
	slices.SortStableFunc(causes, func(a, b *jsonschema.ValidationError) int {
		return slices.Compare(a.InstanceLocation, b.InstanceLocation)
	})
	for _, cause := range causes {
		p.collect(s, cause)
	}
}

// choice recognises branches that all fail by type at the same place.
func choice(e *jsonschema.ValidationError) (want []string, got string) {
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
	default:
		return nil, ""
	}
	for _, cause := range e.Causes {
		t, ok := cause.ErrorKind.(*kind.Type)
		if !ok || len(cause.InstanceLocation) != len(e.InstanceLocation) {
			return nil, ""
		}
		want, got = append(want, t.Want...), t.Got
	}
	return want, got
}

func (s *Schema) explain(e *jsonschema.ValidationError) []string {
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		return []string{fmt.Sprintf("%s: expected %s, got %s", place(e), strings.Join(k.Want, " or "), k.Got)}
	case *kind.Required:
		return s.missing(e, k.Missing)
	case *kind.AdditionalProperties:
		return unknown(e, k.Properties)
	case *kind.Enum:
		return []string{fmt.Sprintf("%s: expected one of %s", place(e), values(k.Want))}
	}
	text := e.ErrorKind.LocalizedString(message.NewPrinter(language.English))
	return []string{place(e) + ": " + inWords(strings.Join(strings.Fields(text), " "))}
}

// bound is what the validator says of a value that is outside a bound: its keyword, what there is and what the schema wants.
var bound = regexp.MustCompile(`^(\w+): got (\S+), want (\S+)$`)

// boundsInWords say what a bound means, by its keyword.
var boundsInWords = map[string]string{
	"minimum": "must be at least %s", "maximum": "must be at most %s", "exclusiveMinimum": "must be more than %s", "exclusiveMaximum": "must be less than %s",
	"multipleOf": "must be a multiple of %s", "minLength": "must have at least this many characters: %s", "maxLength": "must have at most this many characters: %s",
	"minItems": "must have at least this many items: %s", "maxItems": "must have at most this many items: %s",
}

// inWords says which bound a value is outside of, and leaves other texts as they are. People read it, too.
func inWords(text string) string {
	m := bound.FindStringSubmatch(text)
	if m == nil || boundsInWords[m[1]] == "" {
		return text
	}
	return fmt.Sprintf(boundsInWords[m[1]], m[3]) + ", not " + m[2]
}

func (s *Schema) missing(e *jsonschema.ValidationError, names []string) []string {
	var out []string
	for _, name := range names {
		line := fmt.Sprintf("%s is required", place(e, name))
		if len(e.InstanceLocation) == 0 {
			tour := s.walk()
			if property, ok := tour.child(s.resolve(s.root), "properties", name, 0); ok {
				if types := tour.types(s.resolve(property), 0); len(types) > 0 {
					line += ": expected " + strings.Join(types, " or ")
				}
			}
		}
		out = append(out, line)
	}
	return out
}

func unknown(e *jsonschema.ValidationError, names []string) []string {
	var out []string
	for _, name := range slices.Sorted(slices.Values(names)) {
		out = append(out, place(e, name)+": there is no such property")
	}
	return out
}

// place names the property: "tags.0", or the arguments as a whole.
func place(e *jsonschema.ValidationError, name ...string) string {
	path := slices.Concat(e.InstanceLocation, name)
	if len(path) == 0 {
		return "arguments"
	}
	return fmt.Sprintf("%q", strings.Join(path, "."))
}

func values(list []any) string {
	var out []string
	for _, v := range list {
		text, err := json.Marshal(v)
		if err != nil {
			continue
		}
		out = append(out, string(text))
	}
	return strings.Join(out, ", ")
}
