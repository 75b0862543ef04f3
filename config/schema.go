package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/invopop/jsonschema"
)

// Schema returns the JSON Schema (draft 2020-12) of a file, generated from the struct tags.
// agent.schema.json contains it.
func Schema() ([]byte, error) {
	reflector := jsonschema.Reflector{
		Anonymous: true, ExpandedStruct: true, RequiredFromJSONSchemaTags: true,
		FieldNameTag: "yaml", Mapper: mapType,
	}
	schema := reflector.Reflect(&Config{})
	if models, ok := schema.Properties.Get("models"); ok {
		models.PropertyNames = &jsonschema.Schema{Pattern: entryName.String()}
	}
	if auth, ok := schema.Properties.Get("auth"); ok {
		auth.OneOf = []*jsonschema.Schema{{Const: "none"}, {Type: "array", Items: auth.Items, MinItems: new(uint64(1))}}
		auth.Type, auth.Items = "", nil
	}
	if rule, ok := schema.Definitions["Rule"]; ok {
		orOneWord(rule, "then", schema.Definitions["Then"], "outcome")
	}
	schema.Title = "An agent of agent-stop-and-go"
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(schema); err != nil {
		return nil, fmt.Errorf("encode the schema: %w", err)
	}
	return buf.Bytes(), nil
}

func mapType(t reflect.Type) *jsonschema.Schema {
	if t == durationType {
		return &jsonschema.Schema{Type: "string", Pattern: `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h|d|w))+$`}
	}
	return nil
}

// orOneWord lets the value of a key be the value of the object's own member short, too.
func orOneWord(of *jsonschema.Schema, key string, members *jsonschema.Schema, short string) {
	object, _ := of.Properties.Get(key)
	word, _ := members.Properties.Get(short)
	object.OneOf = []*jsonschema.Schema{{Enum: word.Enum, Type: word.Type}, {Ref: object.Ref}}
	object.Ref = ""
}
