package config

import (
	"fmt"
	"reflect"
	"strings"

	"gopkg.in/yaml.v3"
)

// decoder fills the structs from YAML nodes. It continues after a mistake.
type decoder struct {
	*report
	rules rules // of the field being decoded
}

// value decodes n into v. null leaves v at its default.
func (d decoder) value(path string, n *yaml.Node, v reflect.Value) {
	n, line := follow(n)
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		d.object(path, n, line, v)
	case reflect.Pointer:
		p := reflect.New(v.Type().Elem())
		setDefaults(p.Elem())
		d.value(path, n, p.Elem())
		v.Set(p)
	case reflect.Slice:
		d.list(path, n, line, v)
	case reflect.Map:
		d.mapping(path, n, line, v)
	default:
		d.scalar(path, n, line, v)
	}
}

// follow resolves an alias. line is where to report a mistake.
func follow(n *yaml.Node) (*yaml.Node, int) {
	line := n.Line
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n, line
}

func (d decoder) object(path string, n *yaml.Node, line int, v reflect.Value) {
	if short, ok := d.rules.one("shorthand"); ok && n.Kind == yaml.ScalarNode {
		f, field, _ := fieldByKey(v, short)
		decoder{d.report, rulesOf(f)}.value(path, n, field)
		return
	}
	if n.Kind != yaml.MappingNode {
		keys := keysOf(v.Type())
		d.atLine(line, path, "must be a mapping with keys such as %s", strings.Join(keys[:min(2, len(keys))], " and "))
		return
	}
	for _, p := range d.pairs(path, n) {
		key := join(path, p.key.Value)
		f, field, ok := fieldByKey(v, p.key.Value)
		if !ok {
			d.unknownKey(p.key.Line, key, p.key.Value, v.Type())
			continue
		}
		d.lines[key] = p.line()
		decoder{d.report, rulesOf(f)}.value(key, p.value, field)
	}
}

func (d decoder) list(path string, n *yaml.Node, line int, v reflect.Value) {
	word, hasWord := d.rules.one("empty")
	_, single := d.rules["single"]
	switch {
	case single && n.Kind == yaml.ScalarNode: // a list of one
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		d.value(path, n, v.Index(0))
		return
	case hasWord && n.Kind == yaml.ScalarNode && n.Value == word:
	case n.Kind != yaml.SequenceNode && hasWord:
		d.atLine(line, path, "must be %s or a list, each item on a line that begins with a dash", word)
		return
	case n.Kind != yaml.SequenceNode:
		d.atLine(line, path, "must be a list, each item on a line that begins with a dash")
		return
	case hasWord && len(n.Content) == 0:
		d.atLine(line, path, "must not be empty; write %s", word)
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	for i, item := range n.Content {
		at, elem := fmt.Sprintf("%s[%d]", path, i), v.Index(i)
		d.lines[at] = item.Line
		if elem.Kind() == reflect.Pointer {
			elem.Set(reflect.New(elem.Type().Elem()))
			elem = elem.Elem()
		}
		setDefaults(elem)
		if target, _ := follow(item); target.ShortTag() == "!!null" {
			d.atLine(item.Line, at, "the item is empty; fill it in or remove its dash")
			continue
		}
		d.value(at, item, elem)
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
