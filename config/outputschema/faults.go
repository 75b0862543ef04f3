package outputschema

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

// Fault is a mistake in a schema, at a key path of the file.
type Fault struct{ Path, Message string }

// Faults returns the mistakes in a schema that stands at path: it must be of an object, without
// references to other documents.
func Faults(path string, schema map[string]any) []Fault {
	var faults []Fault
	if t, set := schema["type"]; set && t != "object" {
		faults = append(faults, Fault{path + ".type", "the output of a node is an object; say type: object or nothing"})
	}
	if faults = append(faults, references(path, schema)...); len(faults) == 0 {
		faults = compile(path, schema)
	}
	return faults
}

// valueKeywords are the keywords whose values are not schemas.
var valueKeywords = []string{"const", "enum", "default", "examples"}

// references returns the references to other documents.
func references(path string, node any) (faults []Fault) {
	switch v := node.(type) {
	case []any:
		for i, child := range v {
			faults = append(faults, references(fmt.Sprintf("%s[%d]", path, i), child)...)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			child := v[key]
			ref, isText := child.(string)
			switch {
			case slices.Contains(valueKeywords, key):
			case (key == "$ref" || key == "$dynamicRef") && isText && !strings.HasPrefix(ref, "#"):
				const text = "%q: must point inside the schema, such as #/$defs/item; nothing is loaded from elsewhere"
				faults = append(faults, Fault{path + "." + key, fmt.Sprintf(text, ref)})
			default:
				faults = append(faults, references(path+"."+key, child)...)
			}
		}
	}
	return faults
}

const schemaAddress = "config:///output_schema"

func compile(path string, schema map[string]any) []Fault {
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.UseLoader(noLoader{})
	err := compiler.AddResource(schemaAddress, schema)
	if err == nil {
		_, err = compiler.Compile(schemaAddress)
	}
	if err == nil {
		return nil
	}
	var invalid *jsonschema.ValidationError
	if schemaErr := (*jsonschema.SchemaValidationError)(nil); errors.As(err, &schemaErr) && errors.As(schemaErr.Err, &invalid) {
		at, why := firstCause(path, invalid)
		return []Fault{{at, "is no JSON Schema: " + why}}
	}
	return []Fault{{path, "is no JSON Schema: " + oneLine(strings.ReplaceAll(err.Error(), schemaAddress, ""))}}
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
			path += "." + part
		}
	}
	return path, oneLine(e.ErrorKind.LocalizedString(message.NewPrinter(language.English)))
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
