package config

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/invopop/jsonschema"

	"agent-stop-and-go/config/shape"
)

// Schema returns the JSON Schema (draft 2020-12) of a file, generated from the struct tags.
// agent.schema.json contains it.
func Schema() ([]byte, error) {
	reflector := jsonschema.Reflector{
		Anonymous: true, ExpandedStruct: true, RequiredFromJSONSchemaTags: true,
		FieldNameTag: "yaml", Mapper: shape.OfType,
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
		shape.OrOneWord(rule, "then", schema.Definitions["Then"], "outcome")
	}
	if ask, ok := schema.Definitions["Ask"]; ok {
		shape.OrOneItem(ask, "remind")
	}
	shape.OrOneWord(schema, "prompt", schema.Definitions["Prompt"], "text")
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
