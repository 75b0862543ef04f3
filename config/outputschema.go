package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// checkOutputSchema accepts a JSON Schema of an object without external references.
func checkOutputSchema(r *report, path string, schema map[string]any) {
	if schema == nil || r.failed[path] {
		return
	}
	before := len(r.errs)
	if t, set := schema["type"]; set && t != "object" {
		r.at(path+".type", "the output of a node is an object; say type: object or nothing")
	}
	checkReferences(r, path, schema)
	if len(r.errs) == before {
		checkCompiles(r, path, schema)
	}
}

// valueKeywords are the keywords whose values are not schemas.
var valueKeywords = []string{"const", "enum", "default", "examples"}

// checkReferences refuses references to other documents.
func checkReferences(r *report, path string, node any) {
	switch v := node.(type) {
	case []any:
		for i, child := range v {
			checkReferences(r, fmt.Sprintf("%s[%d]", path, i), child)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			child := v[key]
			ref, isText := child.(string)
			switch {
			case slices.Contains(valueKeywords, key):
			case (key == "$ref" || key == "$dynamicRef") && isText && !strings.HasPrefix(ref, "#"):
				r.at(join(path, key), "%s: must point inside the schema, such as #/$defs/item; nothing is loaded from elsewhere", quote(ref))
			default:
				checkReferences(r, join(path, key), child)
			}
		}
	}
}

const schemaAddress = "config:///output_schema"

func checkCompiles(r *report, path string, schema map[string]any) {
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.UseLoader(noLoader{})
	err := compiler.AddResource(schemaAddress, schema)
	if err == nil {
		_, err = compiler.Compile(schemaAddress)
	}
	if err == nil {
		return
	}
	var invalid *jsonschema.ValidationError
	if schemaErr := (*jsonschema.SchemaValidationError)(nil); errors.As(err, &schemaErr) && errors.As(schemaErr.Err, &invalid) {
		at, why := firstCause(path, invalid)
		r.at(at, "is no JSON Schema: %s", why)
		return
	}
	r.at(path, "is no JSON Schema: %s", oneLine(strings.ReplaceAll(err.Error(), schemaAddress, "")))
}

// noLoader prevents schemas from loading other documents.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, errors.New("nothing is loaded from elsewhere")
}

// firstCause returns the key path of a mistake in a schema and the reason. Of several it
// takes the first by position, so that the result is always the same.
func firstCause(path string, e *jsonschema.ValidationError) (at, why string) {
	for len(e.Causes) > 0 {
		e = slices.MinFunc(e.Causes, func(a, b *jsonschema.ValidationError) int {
			return slices.Compare(a.InstanceLocation, b.InstanceLocation)
		})
	}
	for _, part := range e.InstanceLocation {
		if i, err := strconv.Atoi(part); err == nil {
			path += fmt.Sprintf("[%d]", i)
		} else {
			path = join(path, part)
		}
	}
	return path, oneLine(e.ErrorKind.LocalizedString(message.NewPrinter(language.English)))
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
