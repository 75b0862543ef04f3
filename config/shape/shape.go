// Package shape widens the JSON Schema of a configuration where a file may say something in more
// than one form.
package shape

import (
	"reflect"
	"time"

	"github.com/invopop/jsonschema"
)

var duration = jsonschema.Schema{Type: "string", Pattern: `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h|d|w))+$`}

// OfType returns the schema of types that are written as something else.
func OfType(t reflect.Type) *jsonschema.Schema {
	if t == reflect.TypeFor[time.Duration]() {
		return new(duration)
	}
	return nil
}

// OrOneWord lets the value of a key be the value of the object's own member short, too.
func OrOneWord(of *jsonschema.Schema, key string, members *jsonschema.Schema, short string) {
	object, _ := of.Properties.Get(key)
	word, _ := members.Properties.Get(short)
	object.OneOf = []*jsonschema.Schema{{Enum: word.Enum, Type: word.Type}, {Ref: object.Ref}}
	object.Ref = ""
}

// OrOneItem lets the value of a key be an item of its list alone.
func OrOneItem(of *jsonschema.Schema, key string) {
	list, _ := of.Properties.Get(key)
	list.OneOf = []*jsonschema.Schema{list.Items, {Type: list.Type, Items: list.Items, MaxItems: list.MaxItems}}
	list.Type, list.Items, list.MaxItems = "", nil, nil
}
