package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Schema is a JSON schema, as data and compiled. compiled is nil if it does not
// compile: then nothing is validated.
type Schema struct {
	raw      json.RawMessage
	root     any
	compiled *jsonschema.Schema
	budget   budget
}

// maxSchema bounds the values in a schema that is compiled.
const maxSchema = 20_000

var errLargeSchema = fmt.Errorf("it has more than %d values", maxSchema)

// New compiles a schema, as draft 2020-12 unless it names another. With an error the
// schema can still be used for coercion.
func New(raw json.RawMessage) (*Schema, error) {
	root, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return &Schema{raw: raw}, fmt.Errorf("decode the schema: %w", err)
	}
	s := &Schema{raw: raw, root: root}
	switch {
	case count(root) > maxSchema:
		return s, errLargeSchema
	case hasHugeNumber(root):
		return s, errAbsurdNumber
	}
	s.compiled, err = s.compile()
	return s, err
}

// Is reports whether the schema was made from a text.
func (s *Schema) Is(raw json.RawMessage) bool { return bytes.Equal(s.raw, raw) }

func (s *Schema) compile() (*jsonschema.Schema, error) {
	const name = "tool:///schema.json"
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.UseLoader(refuseLoader{})
	compiler.RegisterVocabulary(s.budget.vocabulary())
	compiler.AssertVocabs()
	if err := compiler.AddResource(name, s.root); err != nil {
		return nil, err
	}
	return compiler.Compile(name)
}

// refuseLoader prevents schemas from loading URLs.
type refuseLoader struct{}

func (refuseLoader) Load(url string) (any, error) {
	return nil, errors.New("schemas are not loaded from elsewhere: " + url)
}

// resolve follows references inside the schema, a few steps at most.
func (s *Schema) resolve(node any) map[string]any {
	for range 8 {
		object, ok := node.(map[string]any)
		if !ok {
			return nil
		}
		ref, ok := object["$ref"].(string)
		if !ok {
			return object
		}
		if node, ok = s.lookup(ref); !ok {
			return nil
		}
	}
	return nil
}

// lookup resolves a local JSON pointer.
func (s *Schema) lookup(ref string) (any, bool) {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok || (path != "" && path[0] != '/') {
		return nil, false
	}
	node := s.root
	for part := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if path == "" {
			break
		}
		object, ok := node.(map[string]any)
		if !ok {
			return nil, false
		}
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		if node, ok = object[part]; !ok {
			return nil, false
		}
	}
	return node, true
}
