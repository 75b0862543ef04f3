package answer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"
)

// form is what a question asks for: the fields of a flat JSON Schema, by name.
// What the schema says beyond types, choices, limits and what is required is left
// to the server, and so is a field of a type that is not known here.
type form struct{ fields []field }

type field struct {
	name     string
	required bool
	schema   property
}

type property struct {
	Type        string            `json:"type"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Enum        []json.RawMessage `json:"enum"`
	OneOf       []choice          `json:"oneOf"`
	AnyOf       []choice          `json:"anyOf"`
	Items       *property         `json:"items"`
	MinLength   *int              `json:"minLength"`
	MaxLength   *int              `json:"maxLength"`
	MinItems    *int              `json:"minItems"`
	MaxItems    *int              `json:"maxItems"`
	Minimum     *json.Number      `json:"minimum"`
	Maximum     *json.Number      `json:"maximum"`
}

type choice struct {
	Const json.RawMessage `json:"const"`
	Title string          `json:"title"`
}

// readForm reads a schema. One that makes no sense has no fields.
func readForm(schema json.RawMessage) form {
	var s struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return form{}
	}
	properties, _ := readObject(s.Properties)
	var f form
	for _, p := range properties {
		one := field{name: p.name, required: slices.Contains(s.Required, p.name)}
		if json.Unmarshal(p.value, &one.schema) != nil {
			one.schema = property{}
		}
		f.fields = append(f.fields, one)
	}
	return f
}

// named is a member of an object.
type named struct {
	name  string
	value json.RawMessage
}

// readObject reads an object in its own order. A map would have none. Of a name
// that repeats the last counts, as it does for everybody else.
func readObject(raw json.RawMessage) (out []named, ok bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '{' || !json.Valid(raw) {
		return nil, false
	}
	err := eachMember(raw, func(name string, value json.RawMessage) error {
		out = slices.DeleteFunc(out, func(n named) bool { return n.name == name })
		out = append(out, named{name, value})
		return nil
	})
	return out, err == nil
}

// single is the field that a bare text is for: the only one, or the only one that
// is required.
func (f form) single() (field, bool) {
	if len(f.fields) == 1 {
		return f.fields[0], true
	}
	var out []field
	for _, one := range f.fields {
		if one.required {
			out = append(out, one)
		}
	}
	if len(out) != 1 {
		return field{}, false
	}
	return out[0], true
}

// choosing is the only field of which a text is a choice.
func (f form) choosing(text string) (field, bool) {
	var out []field
	for _, one := range f.fields {
		if _, ok := one.schema.choice(text); ok {
			out = append(out, one)
		}
	}
	if len(out) != 1 {
		return field{}, false
	}
	return out[0], true
}

// needs reports whether any field is required.
func (f form) needs() bool {
	return slices.ContainsFunc(f.fields, func(one field) bool { return one.required })
}

// check tells what is wrong with content.
func (f form) check(content json.RawMessage) error {
	values, ok := readObject(content)
	if !ok {
		return errors.New("the content is not a JSON object")
	}
	for _, v := range values {
		if !slices.ContainsFunc(f.fields, func(one field) bool { return one.name == v.name }) {
			return fmt.Errorf("there is no field %.60q", v.name)
		}
	}
	for _, one := range f.fields {
		i := slices.IndexFunc(values, func(v named) bool { return v.name == one.name })
		switch {
		case i < 0 && one.required:
			return fmt.Errorf("%.60q is missing", one.name)
		case i < 0:
		default:
			if err := one.schema.check(values[i].value); err != nil {
				return fmt.Errorf("%.60q %w", one.name, err)
			}
		}
	}
	return nil
}

func (p property) check(value json.RawMessage) error {
	if choices := p.choices(); len(choices) > 0 && p.Type != "array" {
		if !slices.ContainsFunc(choices, func(c json.RawMessage) bool { return same(c, value) }) {
			return fmt.Errorf("must be one of %s", list(choices))
		}
		return nil
	}
	switch p.Type {
	case "string":
		return p.checkString(value)
	case "number", "integer":
		return p.checkNumber(value)
	case "boolean":
		var b *bool
		if json.Unmarshal(value, &b) != nil || b == nil {
			return errors.New("must be true or false")
		}
	case "array":
		return p.checkArray(value)
	}
	return nil
}

func (p property) checkString(value json.RawMessage) error {
	var s *string
	if json.Unmarshal(value, &s) != nil || s == nil {
		return errors.New("must be a text")
	}
	switch n := utf8.RuneCountInString(*s); {
	case p.MinLength != nil && n < *p.MinLength:
		return fmt.Errorf("must have at least %d characters", *p.MinLength)
	case p.MaxLength != nil && n > *p.MaxLength:
		return fmt.Errorf("must have at most %d characters", *p.MaxLength)
	}
	return nil
}

func (p property) checkNumber(value json.RawMessage) error {
	n, err := number(value)
	switch {
	case err != nil:
		return errors.New("must be a number")
	case p.Type == "integer" && !n.IsInt():
		return errors.New("must be a whole number")
	case p.Minimum != nil && below(n, json.RawMessage(*p.Minimum)):
		return fmt.Errorf("must be at least %s", *p.Minimum)
	case p.Maximum != nil && below(n.Neg(n), negative(*p.Maximum)):
		return fmt.Errorf("must be at most %s", *p.Maximum)
	}
	return nil
}

// number reads a JSON number that is not absurdly large.
func number(value json.RawMessage) (*big.Rat, error) {
	var n json.Number
	if len(value) == 0 || value[0] == '"' || json.Unmarshal(value, &n) != nil || n == "" {
		return nil, errors.New("not a number")
	}
	f, err := n.Float64()
	mantissa, _, _ := strings.Cut(strings.ToLower(string(n)), "e")
	tiny := f == 0 && strings.ContainsAny(mantissa, "123456789")
	if err != nil || math.IsInf(f, 0) || tiny || len(n) > 400 {
		return nil, errors.New("not a number of a size that can be used")
	}
	r, ok := new(big.Rat).SetString(string(n))
	if !ok {
		return nil, errors.New("not a number")
	}
	return r, nil
}

func below(n *big.Rat, limit json.RawMessage) bool {
	l, err := number(limit)
	return err == nil && n.Cmp(l) < 0
}

func negative(n json.Number) json.RawMessage {
	if rest, ok := strings.CutPrefix(string(n), "-"); ok {
		return json.RawMessage(rest)
	}
	return json.RawMessage("-" + string(n))
}

func (p property) checkArray(value json.RawMessage) error {
	var items []json.RawMessage
	if json.Unmarshal(value, &items) != nil || items == nil {
		return errors.New("must be a list")
	}
	switch {
	case p.MinItems != nil && len(items) < *p.MinItems:
		return fmt.Errorf("must have at least %d entries", *p.MinItems)
	case p.MaxItems != nil && len(items) > *p.MaxItems:
		return fmt.Errorf("must have at most %d entries", *p.MaxItems)
	case p.Items == nil:
		return nil
	}
	for _, item := range items {
		if err := p.Items.check(item); err != nil {
			return fmt.Errorf("has an entry that %w", err)
		}
	}
	return nil
}

// choices are the values that there are, none when there is no list of them.
func (p property) choices() []json.RawMessage {
	if len(p.Enum) > 0 {
		return p.Enum
	}
	var out []json.RawMessage
	for _, c := range append(slices.Clone(p.OneOf), p.AnyOf...) {
		if len(c.Const) > 0 {
			out = append(out, c.Const)
		}
	}
	return out
}

func same(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

// takes reports whether a text is a value of the field although it may be a word for
// no: it is one of the choices, or answers a question of yes or no.
func (f field) takes(text string) bool {
	p := f.schema
	if choices := p.choices(); len(choices) > 0 {
		_, ok := p.choice(text)
		return ok
	}
	return p.Type == "boolean" && truth[strings.ToLower(text)] != ""
}

// truth are the words for the values of a field that is true or false.
var truth = map[string]string{
	"yes": "true", "y": "true", "true": "true", "ok": "true",
	"no": "false", "n": "false", "false": "false",
}

// choice finds a choice by its value, by its title, or in another case when that
// is no other one.
func (p property) choice(text string) (json.RawMessage, bool) {
	for _, c := range p.choices() {
		if s, ok := scalar(c); ok && s == text {
			return c, true
		}
	}
	for _, c := range append(slices.Clone(p.OneOf), p.AnyOf...) {
		if c.Title == text && len(c.Const) > 0 {
			return c.Const, true
		}
	}
	var found []json.RawMessage
	for _, c := range p.choices() {
		if s, ok := scalar(c); ok && strings.EqualFold(s, text) {
			found = append(found, c)
		}
	}
	if len(found) != 1 {
		return nil, false
	}
	return found[0], true
}

// read makes a value of a text.
func (f field) read(text string) (json.RawMessage, error) {
	p := f.schema
	if choices := p.choices(); len(choices) > 0 && p.Type != "array" {
		if c, ok := p.choice(text); ok {
			return c, nil
		}
		return nil, fmt.Errorf("%.60q must be one of %s", f.name, list(choices))
	}
	switch p.Type {
	case "number", "integer":
		if _, err := number(json.RawMessage(text)); err != nil {
			return nil, fmt.Errorf("%.60q must be a number", f.name)
		}
		return json.RawMessage(text), nil
	case "boolean":
		if word := truth[strings.ToLower(text)]; word != "" {
			return json.RawMessage(word), nil
		}
		return nil, fmt.Errorf("%.60q must be yes or no", f.name)
	case "array":
		if p.Items != nil {
			item, err := field{name: f.name, schema: *p.Items}.read(text)
			return json.RawMessage("[" + string(item) + "]"), err
		}
	}
	return json.Marshal(text)
}

// accepted tells people what they may answer.
func (f form) accepted() string {
	content, one := "{}", ""
	fields := f.describe()
	if len(fields) > 0 {
		content = "{…}"
	}
	if field, ok := f.single(); ok {
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

// maxDescription bounds what people are told of the fields, in bytes.
const maxDescription = 4 << 10

// describe is the fields as people read them. What is too much is counted.
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

// maxListed is how many choices are told, and how long one may be.
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
