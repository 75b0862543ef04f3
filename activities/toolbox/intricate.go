package toolbox

import (
	"errors"
	"reflect"
)

var errIntricate = errors.New("one value would be checked in too many ways")

// maxPaths bounds the ways to check one value, maxPathsAll those of all places
// in a schema.
const (
	maxPaths    = 10_000
	maxPathsAll = 1_000_000
)

// intricate tells whether to check a value against the schema would take for
// ever: choices of choices multiply, and nothing ends a check that has begun.
func (s *schema) intricate() bool {
	w := walk{schema: s, total: maxPathsAll}
	return !w.everywhere(s.root)
}

// walk follows every way in which a value may be checked, as the check itself
// does: what a schema comes back to is not followed again.
type walk struct {
	*schema
	left, total int
	within      []uintptr
}

func (w *walk) everywhere(node any) bool {
	switch v := node.(type) {
	case map[string]any:
		w.left, w.within = maxPaths, nil
		if !w.from(v) {
			return false
		}
		for _, child := range v {
			if !w.everywhere(child) {
				return false
			}
		}
	case []any:
		for _, child := range v {
			if !w.everywhere(child) {
				return false
			}
		}
	}
	return true
}

// from follows a schema to all that the same value is checked against.
func (w *walk) from(node any) bool {
	object, ok := node.(map[string]any)
	if !ok {
		return true
	}
	w.left--
	w.total--
	if w.left < 0 || w.total < 0 {
		return false
	}
	self := reflect.ValueOf(object).Pointer()
	for _, outer := range w.within {
		if outer == self {
			return true
		}
	}
	w.within = append(w.within, self)
	defer func() { w.within = w.within[:len(w.within)-1] }()
	for _, next := range w.inPlace(object) {
		if !w.from(next) {
			return false
		}
	}
	return true
}

func (w *walk) inPlace(object map[string]any) []any {
	var out []any
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := object[keyword].([]any)
		out = append(out, list...)
	}
	for _, keyword := range []string{"not", "if", "then", "else"} {
		if node, ok := object[keyword]; ok {
			out = append(out, node)
		}
	}
	if ref, ok := object["$ref"].(string); ok {
		if node, ok := w.lookup(ref); ok {
			out = append(out, node)
		}
	}
	return out
}
