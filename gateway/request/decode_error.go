package request

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"agent-stop-and-go/gateway/service"
)

// DecodeErrorText describes an error of encoding/json by the member and the expected JSON
// type. It does not name Go types, which mean nothing to callers.
func DecodeErrorText(err error) string {
	var t *json.UnmarshalTypeError
	var moment *time.ParseError
	switch {
	case errors.As(err, &moment):
		return "expected a time such as 2026-03-01T12:00:00Z, not " + service.Printable(moment.Value)
	case !errors.As(err, &t):
		return err.Error()
	}
	expected, got := jsonName(t.Type), t.Value
	if number, ok := strings.CutPrefix(got, "number "); ok { // a number, but not one of this type
		got, expected = number, "a number in range"
		if t.Type.Kind() < reflect.Float32 {
			expected = "a whole number in range"
		}
	}
	return fmt.Sprintf("%s: expected %s, not %s", cmp.Or(t.Field, "the whole"), expected, got)
}

// memberOf returns the path of a member that encoding/json could not decode into a type, without the structs
// that are embedded: for callers their members are those of the object.
func memberOf(in reflect.Type, path string) string {
	var members []string
	for name := range strings.SplitSeq(path, ".") {
		for in != nil && slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map}, in.Kind()) {
			in = in.Elem()
		}
		var f reflect.StructField
		if in, f = fieldOf(in, name); !f.Anonymous {
			members = append(members, name)
		}
	}
	return strings.Join(members, ".")
}

// fieldOf returns the field of a struct that has a JSON name, or is an embedded struct of that name, and its type. It is nil
// if there is none.
func fieldOf(in reflect.Type, name string) (reflect.Type, reflect.StructField) {
	if in == nil || in.Kind() != reflect.Struct {
		return nil, reflect.StructField{}
	}
	for f := range in.Fields() {
		tagged, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if tagged == name || tagged == "" && f.Name == name {
			return f.Type, f
		}
	}
	return nil, reflect.StructField{}
}

// jsonName returns the JSON name of a Go type.
func jsonName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return jsonName(t.Elem())
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "a number"
}
