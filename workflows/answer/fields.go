package answer

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Field is a field of a question, for front ends that ask for one after the other.
type Field struct {
	Name, Title, Description string
	Required                 bool
	// Type is string, number, integer, boolean or array; others are taken as they are written.
	Type string
	// Choices are the values that it may have or, if it is Many, that its entries may have.
	Choices []Choice
	Many    bool
	// Default is "" if there is none, or one that is no scalar.
	Default string
	// Long means that a text may be longer than a line.
	Long   bool
	schema property
}

// Choice is a value that a field may have. Text is what Read takes for it.
type Choice struct{ Label, Text string }

// hints are what a property says besides what is checked.
type hints struct {
	Default   json.RawMessage `json:"default"`
	EnumNames []string        `json:"enumNames"`
	Format    string          `json:"format"`
}

// Fields returns the fields of a schema in order, none if it is not one of a question.
func Fields(schema json.RawMessage) []Field {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	_ = json.Unmarshal(schema, &s) // then readForm has no fields
	var out []Field
	for _, one := range readForm(schema).fields {
		var h hints
		_ = json.Unmarshal(s.Properties[one.name], &h) // hints that cannot be read are none
		p := one.schema
		f := Field{
			Name: one.name, Title: p.Title, Description: p.Description, Required: one.required, Type: p.Type, schema: p,
			Choices: p.labelled(h.EnumNames), Long: p.Type == "string" && h.Format == "" && (p.MaxLength == nil || *p.MaxLength > 80),
		}
		if p.Type == "boolean" && len(f.Choices) == 0 {
			f.Choices = []Choice{{"Yes", "yes"}, {"No", "no"}}
		}
		if f.Many = p.Type == "array" && p.Items != nil; f.Many {
			f.Choices = p.Items.labelled(nil)
		}
		f.Default, _ = scalar(h.Default)
		out = append(out, f)
	}
	return out
}

// labelled returns the choices with the labels that the schema has for them.
func (p property) labelled(names []string) []Choice {
	labels := map[string]string{}
	for _, c := range append(p.OneOf, p.AnyOf...) {
		labels[string(c.Const)] = c.Title
	}
	var out []Choice
	for i, c := range p.choices() {
		text, ok := scalar(c)
		if !ok {
			return nil // a value that nobody types
		}
		label := labels[string(c)]
		if len(names) == len(p.Enum) && len(names) > 0 {
			label = names[i]
		}
		if label == "" {
			label = text
		}
		out = append(out, Choice{label, text})
	}
	return out
}

// Read returns the value that somebody has typed, nil for no answer to a field that is not
// required. Of one that is Many, texts are the entries; of another there is one.
func (f Field) Read(texts ...string) (json.RawMessage, error) {
	if !f.Many {
		return f.readOne(strings.Join(texts, " "))
	}
	if len(texts) == 0 && !f.Required {
		return nil, nil
	}
	entries := []json.RawMessage{}
	for _, text := range texts {
		value, err := (field{name: f.Name, schema: *f.schema.Items}).read(text)
		if err != nil {
			return nil, err
		}
		entries = append(entries, value)
	}
	value, err := json.Marshal(entries)
	if err == nil {
		err = f.schema.check(value)
	}
	return value, err
}

func (f Field) readOne(text string) (json.RawMessage, error) {
	if text == "" && !f.Required {
		return nil, nil
	}
	if text == "" && (f.Type != "string" || len(f.Choices) > 0) {
		return nil, errors.New("an answer is required")
	}
	value, err := (field{name: f.Name, schema: f.schema}).read(text)
	if err == nil {
		err = f.schema.check(value)
	}
	return value, err
}

// Filled returns the content of an answer, from the values of Read by the names of fields. nil
// values are left out. It fails if the whole does not fit the schema.
func Filled(schema json.RawMessage, values map[string]json.RawMessage) (json.RawMessage, error) {
	f := readForm(schema)
	var members []string
	for _, one := range f.fields {
		if values[one.name] == nil {
			continue
		}
		name, err := json.Marshal(one.name)
		if err != nil {
			return nil, fmt.Errorf("name a field: %w", err)
		}
		members = append(members, string(name)+":"+string(values[one.name]))
	}
	r, err := f.accept(json.RawMessage("{" + strings.Join(members, ",") + "}"))
	return r.Content, err
}
