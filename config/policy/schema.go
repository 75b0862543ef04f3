package policy

import (
	"encoding/json"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
)

// maxSchemaDepth bounds how deep a schema is read; what is deeper may be anything.
const maxSchemaDepth = 8

// jsonSchema is the part of a JSON Schema that has types. Combinations (oneOf, anyOf, allOf, $ref)
// may be anything.
type jsonSchema struct {
	Type       json.RawMessage            `json:"type"`
	Properties map[string]json.RawMessage `json:"properties"`
	Items      json.RawMessage            `json:"items"`
	Ref        string                     `json:"$ref"`
	OneOf      json.RawMessage            `json:"oneOf"`
	AnyOf      json.RawMessage            `json:"anyOf"`
	AllOf      json.RawMessage            `json:"allOf"`
}

// typeOf returns the CEL type of values that fit a schema, and adds the objects in it to o under
// names that begin with name. A number may be anything, because JSON does not tell 5 from 5.0.
func typeOf(raw json.RawMessage, name string, o objects, depth int) *types.Type {
	var s jsonSchema
	var one string
	if depth > maxSchemaDepth || json.Unmarshal(raw, &s) != nil || s.combined() || json.Unmarshal(s.Type, &one) != nil {
		return cel.DynType
	}
	switch one {
	case "string":
		return cel.StringType
	case "integer":
		return cel.IntType
	case "boolean":
		return cel.BoolType
	case "array":
		return cel.ListType(typeOf(s.Items, name+".items", o, depth+1))
	case "object":
		if len(s.Properties) == 0 {
			return cel.MapType(cel.StringType, cel.DynType)
		}
		fields := map[string]*types.Type{}
		for _, key := range sortedKeys(s.Properties) {
			fields[key] = typeOf(s.Properties[key], name+"."+identifier(key), o, depth+1)
		}
		o[name] = fields
		return cel.ObjectType(name)
	}
	return cel.DynType
}

func (s jsonSchema) combined() bool {
	return s.Ref != "" || s.OneOf != nil || s.AnyOf != nil || s.AllOf != nil
}

// argumentType is the type of args for a tool. A schema without members takes any.
func argumentType(schema json.RawMessage, o objects) *types.Type {
	t := typeOf(schema, typeArguments, o, 0)
	if t.Kind() != types.StructKind {
		return cel.DynType
	}
	return t
}

// identifier replaces what names of types must not have.
func identifier(key string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
			return r
		}
		return '_'
	}, key)
}
