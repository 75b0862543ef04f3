package command

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"agent-stop-and-go/workflows/contract"
)

// types are those of a tool's arguments: by its schema or, where that does not say, by the arguments of
// the call.
type types struct {
	schema    schema
	arguments json.RawMessage
}

// schema is what a JSON schema says of the types of values.
type schema struct {
	Type       json.RawMessage   `json:"type"` // a text, or a list of texts
	Properties map[string]schema `json:"properties"`
}

// typesOf returns the types of a call's arguments. A tool that the gateway does not know now has no schema.
func (r run) typesOf(ctx context.Context, p contract.PendingApproval) types {
	t := types{arguments: p.ToolArgs.Raw}
	catalogue, err := r.service.Catalogue(ctx)
	if err != nil { // nobody lists the tools now
		return t
	}
	for _, tool := range catalogue.Tools {
		if tool.Name == p.ToolName && tool.Server == p.Server && json.Unmarshal(tool.InputSchema, &t.schema) != nil {
			t.schema = schema{} // a schema of another form says nothing
		}
	}
	return t
}

// value returns a word as JSON of the type that its argument has.
func (t types) value(s set) (json.RawMessage, error) {
	names := t.of(s.name)
	is := func(name string) bool { return slices.Contains(names, name) }
	raw, text := json.RawMessage(s.word), is("string") || len(names) == 0
	first := "" // character
	if s.word != "" {
		first = s.word[:1]
	}
	switch number := strings.Contains("-0123456789", first) && first != ""; {
	case number && json.Valid(raw) && (is("number") || is("integer") || len(names) == 0),
		(s.word == "true" || s.word == "false") && (is("boolean") || len(names) == 0),
		s.word == "null" && (is("null") || len(names) == 0):
		return raw, nil
	case text:
		return json.Marshal(s.word)
	}
	return nil, s.problem("%q is not of the type %s", s.word, strings.Join(names, " or "))
}

// of returns the types of an argument, none if they are not known.
func (t types) of(name string) []string {
	s, there := t.schema.at(name)
	var one string
	var several []string
	switch {
	case there && json.Unmarshal(s.Type, &one) == nil && one != "":
		return []string{one}
	case there && json.Unmarshal(s.Type, &several) == nil && len(several) > 0:
		return several
	}
	return typeOf(memberAt(t.arguments, name))
}

// at returns the schema of an argument. One whose own name has a dot is meant before a path.
func (s schema) at(name string) (schema, bool) {
	if found, there := s.Properties[name]; there {
		return found, true
	}
	outer, inner, path := strings.Cut(name, ".")
	if found, there := s.Properties[outer]; path && there {
		return found.at(inner)
	}
	return schema{}, false
}

// memberAt is at for a value.
func memberAt(object json.RawMessage, name string) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil { // no object
		return nil
	}
	if found, there := members[name]; there {
		return found
	}
	if outer, inner, path := strings.Cut(name, "."); path {
		return memberAt(members[outer], inner)
	}
	return nil
}

// typeOf returns the types that JSON Schema has for a value. There are none for null, and for a value that is absent.
func typeOf(raw json.RawMessage) []string {
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil
	case raw[0] == '"':
		return []string{"string"}
	case raw[0] == 't' || raw[0] == 'f':
		return []string{"boolean"}
	case raw[0] == '{':
		return []string{"object"}
	case raw[0] == '[':
		return []string{"array"}
	}
	return []string{"number"}
}
