// Package facts reads what a tool server says of calls of its tools, for the rules of an agent.
//
// A tool whose definition has
//
//	"_meta": {"agent-stop-and-go/facts": {"name": "sql", "for": ["query", "execute"]}}
//
// tells the facts sql about calls of the tools query and execute, by the server's own names. It is
// called with {"tool": "execute", "arguments": {…}} and answers with a structuredContent whose
// members are texts, numbers, truth values or lists of texts. It must change nothing. Models do
// not see it.
//
// The facts of the name preview are for people: their member text says what a call would change. A
// server that tells them is asked before a person is.
package facts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// MetaKey is the member of a tool's _meta that declares it as a source of facts.
const MetaKey = "agent-stop-and-go/facts"

// Preview is the name of the facts that people are shown.
const Preview = "preview"

// Bounds of an answer, in bytes of JSON, members, and items of a list.
const (
	maxAnswer  = 256 << 10
	maxMembers = 64
	maxItems   = 1000
	// maxShown bounds what is recorded of an answer.
	maxShown = 4 << 10
)

// Source is a tool that tells facts.
type Source struct {
	Name string // of the facts
	Tool string // the server's own name of the tool that tells them
	For  []string
	// Schema is the JSON Schema of the facts, if the server states one.
	Schema json.RawMessage
}

// SourceOf returns what a tool declares in its _meta; false means that it is no source. A source
// that is declared wrongly is returned with an error: models do not see it either.
func SourceOf(tool string, meta map[string]json.RawMessage, schema json.RawMessage) (Source, bool, error) {
	raw, declared := meta[MetaKey]
	if !declared {
		return Source{}, false, nil
	}
	var d struct {
		Name string   `json:"name"`
		For  []string `json:"for"`
	}
	err := json.Unmarshal(raw, &d)
	if err == nil && (d.Name == "" || len(d.For) == 0) {
		err = errors.New("name and for are required")
	}
	if err != nil {
		return Source{}, true, fmt.Errorf("read %s: %w", MetaKey, err)
	}
	return Source{Name: d.Name, Tool: tool, For: d.For, Schema: schema}, true, nil
}

// Question returns the arguments with which a source is called.
func Question(tool string, args json.RawMessage) (json.RawMessage, error) {
	return json.Marshal(struct {
		Tool      string          `json:"tool"`
		Arguments json.RawMessage `json:"arguments"`
	}{tool, args})
}

// Answer is what a source says of a call.
type Answer struct {
	// Values are by name: string, bool, int64, float64 or []string.
	Values map[string]any
	// Text is the member text without secrets, if it is a text.
	Text string
	// Shown is what of it is recorded and shown: without secrets, and without what is large.
	Shown json.RawMessage
}

// About returns the sources of facts about a tool, by the names of the facts, which must be among
// the given ones or Preview. Of two for one name the first counts.
func About(tool string, sources []Source, names []string) map[string]Source {
	var out map[string]Source
	for _, source := range sources {
		if _, taken := out[source.Name]; !taken && (source.Name == Preview || slices.Contains(names, source.Name)) && slices.Contains(source.For, tool) {
			if out == nil {
				out = map[string]Source{}
			}
			out[source.Name] = source
		}
	}
	return out
}

// Read reads the result of a call of a source. hidden replaces secrets in JSON.
func Read(result json.RawMessage, hidden func([]byte) []byte) (Answer, error) {
	var r struct {
		Structured json.RawMessage `json:"structuredContent"`
		IsError    bool            `json:"isError"`
		Content    []struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	if err := json.Unmarshal(result, &r); err != nil {
		return Answer{}, fmt.Errorf("decode the facts: %w", err)
	}
	if r.IsError {
		why := ""
		if len(r.Content) > 0 {
			why = r.Content[0].Text
		}
		return Answer{}, fmt.Errorf("the facts are not known: %.200s", why)
	}
	return read(r.Structured, hidden)
}

func read(structured json.RawMessage, hidden func([]byte) []byte) (Answer, error) {
	members, err := membersOf(structured)
	if err != nil {
		return Answer{}, err
	}
	out := Answer{Values: map[string]any{}}
	for name, raw := range members {
		if out.Values[name], err = value(raw); err != nil {
			return Answer{}, fmt.Errorf("%.50s: %w", name, err)
		}
	}
	if members, err = membersOf(hidden(structured)); err != nil {
		return Answer{}, err
	}
	_ = json.Unmarshal(members["text"], &out.Text) // else it is none
	out.Shown, err = shown(members)
	return out, err
}

func membersOf(structured json.RawMessage) (members map[string]json.RawMessage, err error) {
	switch err := json.Unmarshal(structured, &members); {
	case len(structured) > maxAnswer:
		return nil, fmt.Errorf("the facts have %d bytes, more than %d", len(structured), maxAnswer)
	case err != nil || members == nil:
		return nil, errors.New("the facts are no object")
	case len(members) > maxMembers:
		return nil, fmt.Errorf("there are %d facts, more than %d", len(members), maxMembers)
	}
	return members, nil
}

func value(raw json.RawMessage) (any, error) {
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case string, bool:
		return v, nil
	case json.Number:
		if i, err := v.Int64(); err == nil && !strings.ContainsAny(v.String(), ".eE") {
			return i, nil
		}
		return v.Float64()
	case []any:
		return texts(v)
	}
	return nil, errors.New("neither a text, a number, a truth value nor a list of texts")
}

func texts(list []any) ([]string, error) {
	if len(list) > maxItems {
		return nil, fmt.Errorf("%d texts, more than %d", len(list), maxItems)
	}
	out := make([]string, len(list))
	for i, item := range list {
		text, ok := item.(string)
		if !ok {
			return nil, errors.New("a list of other things than texts")
		}
		out[i] = text
	}
	return out, nil
}

// shown returns the members as JSON. While that is too large, the largest one is left out.
func shown(members map[string]json.RawMessage) (json.RawMessage, error) {
	for {
		data, err := json.Marshal(members)
		if err != nil || len(data) <= maxShown {
			return data, err
		}
		largest := ""
		for name, raw := range members {
			if l := len(members[largest]); len(raw) > l || len(raw) == l && name < largest {
				largest = name
			}
		}
		delete(members, largest)
	}
}
