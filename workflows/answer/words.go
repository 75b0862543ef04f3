package answer

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// accepted describes the accepted answers to people.
func (f form) accepted() string {
	content, one := "{}", ""
	fields := f.describe()
	if len(fields) > 0 {
		content = "{…}"
	}
	if field, ok := f.soleField(); ok {
		one = fmt.Sprintf(`, or just the value of %.60q`, field.name)
	} else if !f.needs() {
		one = ", or yes"
	}
	out := `accepted is {"content":` + content + "}"
	if len(fields) > 0 {
		out += " with " + strings.Join(fields, ", ")
	}
	return out + one + `; {"approved":false} or decline declines`
}

// maxDescription bounds the description of the fields, in bytes.
const maxDescription = 4 << 10

// describe describes the fields to people. Fields beyond the limit are only counted.
func (f form) describe() (out []string) {
	size := 0
	for i, one := range f.fields {
		text := fmt.Sprintf("%.512q (%s)", one.name, one.about())
		if size += len(text); size > maxDescription && i > 0 {
			return append(out, fmt.Sprintf("and %d more that its schema has", len(f.fields)-i))
		}
		out = append(out, text)
	}
	return out
}

func (f field) about() string {
	p, need := f.schema, "optional"
	if f.required {
		need = "required"
	}
	kind := p.Type
	switch choices := p.choices(); {
	case p.Type == "array" && p.Items != nil && len(p.Items.choices()) > 0:
		kind = "a list of " + list(p.Items.choices())
	case len(choices) > 0:
		kind = "one of " + list(choices)
	case !slices.Contains([]string{"string", "number", "integer", "boolean", "array"}, kind):
		kind = "any value"
	}
	return kind + ", " + need
}

// maxListed bounds the number of listed choices, and the length of one.
const maxListed = 20

func list(choices []json.RawMessage) string {
	var out []string
	for i, c := range choices {
		if i == maxListed {
			out = append(out, "…")
			break
		}
		s, ok := scalar(c)
		if !ok {
			s = string(c)
		}
		out = append(out, fmt.Sprintf("%.60s", strings.Join(strings.Fields(s), " ")))
	}
	return strings.Join(out, ", ")
}
