package request

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
)

// DecodeErrorText describes an error of encoding/json by the member and the expected JSON
// type. It does not name Go types, which mean nothing to callers.
func DecodeErrorText(err error) string {
	var t *json.UnmarshalTypeError
	if !errors.As(err, &t) {
		return err.Error()
	}
	return fmt.Sprintf("%s: expected %s, not %s", cmp.Or(t.Field, "the whole"), jsonName(t.Type), t.Value)
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
