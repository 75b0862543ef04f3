package config

import (
	"fmt"
	"reflect"
	"strings"

	"gopkg.in/yaml.v3"

	"agent-stop-and-go/config/jsonvalue"
)

// mapping decodes into a map with arbitrary keys. Its values are structs, JSON values or
// texts.
func (d decoder) mapping(path string, n *yaml.Node, line int, v reflect.Value) {
	elem := v.Type().Elem()
	if n.Kind != yaml.MappingNode {
		d.atLine(line, path, "%s", mappingOf(elem))
		return
	}
	if elem.Kind() == reflect.Interface {
		v.Set(reflect.ValueOf(d.jsonObject(path, n)))
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for _, p := range d.pairs(path, n) {
		key, value := join(path, p.key.Value), reflect.New(elem).Elem()
		d.lines[key] = p.line()
		setDefaults(value)
		d.value(key, p.value, value)
		v.SetMapIndex(reflect.ValueOf(p.key.Value), value)
	}
}

// mappingOf describes a mapping with such values.
func mappingOf(elem reflect.Type) string {
	switch elem.Kind() {
	case reflect.Struct:
		return "must be a mapping of names to mappings with keys such as " + strings.Join(keysOf(elem)[:2], " and ")
	case reflect.Interface:
		return "must be a mapping, such as {type: object, properties: {title: {type: string}}}"
	case reflect.Slice:
		return "must be a mapping of names to lists of texts, such as {NAME: [value]}"
	}
	return `must be a mapping of names to texts, such as NAME: "value"`
}

// jsonObject returns a mapping as a JSON object, with numbers as json.Number.
func (d decoder) jsonObject(path string, n *yaml.Node) map[string]any {
	object := map[string]any{}
	for _, p := range d.pairs(path, n) {
		key := join(path, p.key.Value)
		d.lines[key] = p.line()
		object[p.key.Value] = d.json(key, p.value)
	}
	return object
}

func (d decoder) json(path string, n *yaml.Node) any {
	n, line := follow(n)
	switch n.Kind {
	case yaml.MappingNode:
		return d.jsonObject(path, n)
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, item := range n.Content {
			at := fmt.Sprintf("%s[%d]", path, i)
			d.lines[at] = item.Line
			list[i] = d.json(at, item)
		}
		return list
	}
	value, err := jsonvalue.Of(n)
	if err != nil {
		d.atLine(line, path, "%s: must be a value that JSON can hold", quote(n.Value))
	}
	return value
}
