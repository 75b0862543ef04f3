package web

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"agent-stop-and-go/config/secrets"
	"agent-stop-and-go/config/spelling"
)

// Error is a mistake in a file.
type Error struct {
	File    string
	Line    int    // 0 if it is in no line
	Path    string // such as oauth2.client_id; "" for the whole file
	Message string
}

// Error returns "file:line: path: message", without the parts that are unknown.
func (e *Error) Error() string {
	out := e.File
	if e.Line > 0 {
		out += fmt.Sprintf(":%d", e.Line)
	}
	if e.Path != "" {
		out += ": " + e.Path
	}
	return out + ": " + e.Message
}

// Load reads a file. The error has all mistakes, one in a line.
func Load(path string) (*Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("failed to read web config file: %w", err)
	}
	return Parse(path, data)
}

// Parse parses data like Load; name is the file name in errors.
func Parse(name string, data []byte) (*Config, error) {
	c := Default()
	c.file, c.lines = name, map[string]int{}
	r := &reader{config: c}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var document, second yaml.Node
	switch err := dec.Decode(&document); {
	case errors.Is(err, io.EOF): // it is empty
	case err != nil:
		r.fail(0, "", "is no YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	case dec.Decode(&second) == nil:
		r.fail(second.Line, "", "a second YAML document begins here; one is allowed")
	default:
		r.object("", document.Content[0], reflect.ValueOf(c).Elem())
	}
	if len(r.errs) == 0 {
		r.check(c)
	}
	if err := errors.Join(r.errs...); err != nil {
		return nil, err
	}
	return c, nil
}

// reader collects the mistakes of a file.
type reader struct {
	config *Config
	errs   []error
}

func (r *reader) fail(line int, path, format string, args ...any) {
	r.errs = append(r.errs, &Error{r.config.file, line, path, fmt.Sprintf(format, args...)})
}

// at reports a mistake at a key, or at the one around it that the file has.
func (r *reader) at(path, format string, args ...any) {
	line, ok := r.config.lines[path]
	if outer, _, inside := strings.Cut(path, "."); !ok && inside {
		line = r.config.lines[outer]
	}
	r.fail(line, path, format, args...)
}

// object fills a struct from a mapping.
func (r *reader) object(path string, n *yaml.Node, v reflect.Value) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.MappingNode {
		r.fail(n.Line, path, "must be a mapping with keys such as %s", strings.Join(keysOf(v.Type())[:2], " and "))
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		at := strings.TrimPrefix(path+"."+key.Value, ".")
		field, ok := fieldOf(v, key.Value)
		_, twice := r.config.lines[at]
		switch {
		case !ok:
			r.unknown(key.Line, at, key.Value, v.Type())
		case twice:
			r.fail(key.Line, at, "is there twice")
		default:
			r.config.lines[at] = key.Line
			r.value(at, value, field)
		}
	}
}

// value fills a field. A key without a value means its default.
func (r *reader) value(path string, n *yaml.Node, v reflect.Value) {
	switch {
	case n.ShortTag() == "!!null":
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		r.object(path, n, v.Elem())
	default:
		if n.Decode(v.Addr().Interface()) != nil {
			r.fail(n.Line, path, "must be %s", kinds[v.Kind()])
		}
	}
}

// kinds describes the kinds of fields in terms of YAML.
var kinds = map[reflect.Kind]string{reflect.String: "a text", reflect.Int: "a whole number", reflect.Slice: "a list such as [one, two]"}

// unknown reports a key that the file must not have. It never shows its value.
func (r *reader) unknown(line int, path, key string, t reflect.Type) {
	if secrets.InName(key) {
		r.fail(line, path, "unknown key; secrets do not belong in this file, except as oauth2.client_secret: ${NAME}")
		return
	}
	hint := ""
	if similar := spelling.Similar(key, keysOf(t)); similar != "" {
		hint = "did you mean " + similar + "? "
	}
	r.fail(line, path, "unknown key; %sallowed here: %s", hint, strings.Join(keysOf(t), ", "))
}

func fieldOf(v reflect.Value, key string) (reflect.Value, bool) {
	for f, fv := range v.Fields() {
		if f.IsExported() && f.Tag.Get("yaml") == key {
			return fv, true
		}
	}
	return reflect.Value{}, false
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
