package outputschema

import (
	"slices"
	"strconv"
	"strings"
)

// openKeywords let an object have properties that its schema does not list.
var openKeywords = []string{
	"patternProperties", "allOf", "anyOf", "oneOf", "if", "dependentSchemas", "$dynamicRef", "prefixItems", "additionalItems",
}

// maxSteps limits how far references and fields are followed.
const maxSteps = 32

// MayHave reports whether a value that fits the schema may have the field at the end of the
// path. In doubt it returns true.
func MayHave(schema map[string]any, fields []string) bool { return mayHave(schema, schema, fields, 0) }

func mayHave(root map[string]any, node any, fields []string, steps int) bool {
	schema, ok := node.(map[string]any)
	if !ok || len(fields) == 0 || steps > maxSteps {
		return node != false
	}
	isOpen := func(keyword string) bool { _, set := schema[keyword]; return set }
	if more, set := schema["additionalProperties"]; set && more != false || slices.ContainsFunc(openKeywords, isOpen) {
		return true
	}
	if ref, ok := schema["$ref"].(string); ok {
		target, found := pointedAt(root, ref)
		return !found || mayHave(root, target, fields, steps+1)
	}
	properties, listed := schema["properties"].(map[string]any)
	if next, ok := properties[fields[0]]; ok {
		return mayHave(root, next, fields[1:], steps+1)
	}
	items, isList := schema["items"]
	_, err := strconv.Atoi(fields[0])
	if _, closed := schema["additionalProperties"]; !listed && !isList && !closed {
		return mayBe(schema, "object") || mayBe(schema, "array") && err == nil // any type
	}
	return isList && err == nil && mayHave(root, items, fields[1:], steps+1)
}

// mayBe reports whether the type of a schema may be kind.
func mayBe(schema map[string]any, kind string) bool {
	kinds, _ := schema["type"].([]any)
	return schema["type"] == nil || schema["type"] == kind || slices.Contains(kinds, any(kind))
}

// pointedAt resolves a reference such as #/$defs/item.
func pointedAt(root map[string]any, ref string) (any, bool) {
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return root, ref == "#"
	}
	var node any = root
	for part := range strings.SplitSeq(path, "/") {
		object, _ := node.(map[string]any)
		if node, ok = object[strings.NewReplacer("~1", "/", "~0", "~").Replace(part)]; !ok {
			return nil, false
		}
	}
	return node, true
}
