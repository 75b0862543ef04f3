package schema

import (
	"bytes"
	"encoding/json"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Misfit tells a model in one line why a JSON value does not fit a schema, or "". Nothing fits
// an invalid schema.
func Misfit(raw, value json.RawMessage) string {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		return "it is not valid JSON: " + err.Error()
	}
	s, err := New(raw)
	if err != nil {
		return "the schema is not valid: " + err.Error()
	}
	return s.Problem(v)
}
