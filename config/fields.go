package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// rules are the rules in a field's jsonschema tag.
type rules map[string][]string

func rulesOf(f reflect.StructField) rules {
	r := rules{}
	for part := range strings.SplitSeq(f.Tag.Get("jsonschema"), ",") {
		name, value, _ := strings.Cut(part, "=")
		r[name] = append(r[name], value)
	}
	return r
}

func (r rules) one(name string) (string, bool) {
	if len(r[name]) == 0 {
		return "", false
	}
	return r[name][0], true
}

func fieldByKey(v reflect.Value, key string) (reflect.StructField, reflect.Value, bool) {
	for f, fv := range v.Fields() {
		if f.IsExported() && f.Tag.Get("yaml") == key {
			return f, fv, true
		}
	}
	return reflect.StructField{}, reflect.Value{}, false
}

func keysOf(t reflect.Type) []string {
	var keys []string
	for f := range t.Fields() {
		if key := f.Tag.Get("yaml"); key != "" {
			keys = append(keys, key)
		}
	}
	return slices.Clip(keys)
}

// setDefaults sets the fields of a struct that have a default, recursively.
func setDefaults(v reflect.Value) {
	if v.Kind() != reflect.Struct {
		return
	}
	for f, fv := range v.Fields() {
		if text, ok := rulesOf(f).one("default"); ok {
			if err := setScalar(fv, text); err != nil { // a typo in a tag
				panic(fmt.Sprintf("default of %s.%s: %v", v.Type(), f.Name, err))
			}
			continue
		}
		if f.IsExported() {
			setDefaults(fv)
		}
	}
}

// eachField visits every field under v, depth first, with its key path.
func eachField(v reflect.Value, path string, visit func(path string, f reflect.StructField, v reflect.Value)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			eachField(v.Elem(), path, visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			eachField(v.Index(i), fmt.Sprintf("%s[%d]", path, i), visit)
		}
	case reflect.Map:
		if v.Type().Elem().Kind() == reflect.Struct {
			eachEntry(v, path, visit)
		}
	case reflect.Struct:
		for f, fv := range v.Fields() {
			if f.IsExported() {
				key := join(path, f.Tag.Get("yaml"))
				visit(key, f, fv)
				eachField(fv, key, visit)
			}
		}
	}
}

func eachEntry(v reflect.Value, path string, visit func(path string, f reflect.StructField, v reflect.Value)) {
	names := v.MapKeys()
	slices.SortFunc(names, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	for _, name := range names {
		eachField(v.MapIndex(name), join(path, name.String()), visit)
	}
}
