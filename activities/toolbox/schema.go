package toolbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schema is a tool's input schema, as data and compiled. compiled is nil if it does not
// compile: then nothing is validated.
type schema struct {
	raw      json.RawMessage
	root     any
	compiled *jsonschema.Schema
	budget   budget
}

// maxSchema bounds the values in a schema that is compiled.
const maxSchema = 20_000

var errLargeSchema = fmt.Errorf("it has more than %d values", maxSchema)

// schemas keeps the last schema of each tool.
type schemas struct {
	logger *slog.Logger
	mu     sync.Mutex
	cache  map[string]*schema
}

func (s *schemas) of(tool Tool) *schema {
	key := tool.Server + "\x00" + tool.Name
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.cache[key]; known != nil && bytes.Equal(known.raw, tool.InputSchema) {
		return known
	}
	made, err := newSchema(tool.InputSchema)
	if err != nil {
		s.logger.Warn("the schema of a tool is not valid, its arguments are not checked",
			"server", tool.Server, "tool", tool.Name, "error", err)
	}
	if s.cache == nil {
		s.cache = map[string]*schema{}
	}
	s.cache[key] = made
	return made
}

// newSchema compiles a schema, as draft 2020-12 unless it names another. With an error the
// schema can still be used for coercion.
func newSchema(raw json.RawMessage) (*schema, error) {
	root, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return &schema{raw: raw}, fmt.Errorf("decode the schema: %w", err)
	}
	s := &schema{raw: raw, root: root}
	switch {
	case count(root) > maxSchema:
		return s, errLargeSchema
	case hasHugeNumber(root):
		return s, errAbsurdNumber
	}
	s.compiled, err = s.compile()
	return s, err
}

func (s *schema) compile() (*jsonschema.Schema, error) {
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
func (s *schema) resolve(node any) map[string]any {
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
func (s *schema) lookup(ref string) (any, bool) {
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
