package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// parameter is a parameter of an operation, and the property of its input.
type parameter struct {
	property, name, in, style string
	explode, reserved, json   bool
}

func newParameter(p *openapi3.Parameter) (parameter, error) {
	out := parameter{name: p.Name, in: p.In, reserved: p.AllowReserved, json: p.Schema == nil && len(p.Content) > 0}
	method, err := p.SerializationMethod()
	if err != nil {
		return out, err
	}
	out.style, out.explode = method.Style, method.Explode
	known := map[string][]string{"path": {"simple", "label", "matrix"}, "query": {"form", "spaceDelimited", "pipeDelimited", "deepObject"}, "header": {"simple"}, "cookie": {"form"}}
	if !slices.Contains(known[p.In], out.style) {
		return out, fmt.Errorf("parameter %s: the style %q does not go with %s", p.Name, out.style, p.In)
	}
	return out, nil
}

// pair is a name with a value.
type pair struct{ name, value string }

// scalar returns the text of a value that is no list and no object.
func scalar(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case bool, json.Number:
		return fmt.Sprint(v), nil
	}
	return "", errors.New("lists and objects must not contain lists and objects here")
}

func scalars(list []any) (out []string, err error) {
	for _, v := range list {
		text, err := scalar(v)
		if err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	return out, nil
}

func members(object map[string]any) (out []pair, err error) {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		text, err := scalar(object[name])
		if err != nil {
			return nil, err
		}
		out = append(out, pair{name, text})
	}
	return out, nil
}

// joined writes members as name,value or name=value.
func joined(all []pair, between, separator string, escape func(string) string) string {
	var parts []string
	for _, m := range all {
		parts = append(parts, escape(m.name)+between+escape(m.value))
	}
	return strings.Join(parts, separator)
}

// simple writes a value as the styles simple, label and matrix have it (RFC 6570).
func (p parameter) simple(v any, escape func(string) string) (string, error) {
	prefix, separator, named := "", ",", false
	switch {
	case p.style == "label":
		prefix, separator = ".", ","
		if p.explode {
			separator = "."
		}
	case p.style == "matrix":
		prefix, named = ";", true
		if p.explode {
			separator = ";"
		}
	}
	switch v := v.(type) {
	case []any:
		texts, err := scalars(v)
		if err != nil {
			return "", err
		}
		for i := range texts {
			texts[i] = escape(texts[i])
			if named && (p.explode || i == 0) {
				texts[i] = escape(p.name) + "=" + texts[i]
			}
		}
		return prefix + strings.Join(texts, separator), nil
	case map[string]any:
		all, err := members(v)
		if err != nil {
			return "", err
		}
		if p.explode {
			return prefix + joined(all, "=", separator, escape), nil
		}
		if named {
			prefix += escape(p.name) + "="
		}
		return prefix + joined(all, ",", ",", escape), nil
	}
	text, err := scalar(v)
	if named {
		prefix += escape(p.name) + "="
	}
	return prefix + escape(text), err
}

// pairs writes a value as the styles form, spaceDelimited, pipeDelimited and deepObject have it: names and
// values are escaped one by one, and comma is between those of a list.
func (p parameter) pairs(v any, comma string, escape func(string) string) ([]pair, error) {
	separator := map[string]string{"spaceDelimited": escape(" "), "pipeDelimited": escape("|")}[p.style]
	if separator == "" {
		separator = comma
	}
	switch v := v.(type) {
	case []any:
		texts, err := scalars(v)
		if err != nil {
			return nil, err
		}
		var out []pair
		for _, text := range texts {
			out = append(out, pair{escape(p.name), escape(text)})
		}
		if p.explode {
			return out, nil
		}
		var all []string
		for _, one := range out {
			all = append(all, one.value)
		}
		return []pair{{escape(p.name), strings.Join(all, separator)}}, nil
	case map[string]any:
		if p.style == "deepObject" {
			all, err := deep(p.name, v)
			return escapedPairs(all, escape), err
		}
		all, err := members(v)
		if err != nil || p.explode {
			return escapedPairs(all, escape), err
		}
		return []pair{{escape(p.name), joined(all, separator, separator, escape)}}, nil
	}
	text, err := scalar(v)
	return []pair{{escape(p.name), escape(text)}}, err
}

func escapedPairs(all []pair, escape func(string) string) (out []pair) {
	for _, one := range all {
		out = append(out, pair{escape(one.name), escape(one.value)})
	}
	return out
}

// deep writes name[member]=value. Members of members are written alike, as many APIs take them; OpenAPI
// leaves that open.
func deep(name string, object map[string]any) (out []pair, err error) {
	for _, member := range slices.Sorted(maps.Keys(object)) {
		inner := name + "[" + member + "]"
		switch v := object[member].(type) {
		case map[string]any:
			all, err := deep(inner, v)
			if err != nil {
				return nil, err
			}
			out = append(out, all...)
		case []any:
			texts, err := scalars(v)
			if err != nil {
				return nil, err
			}
			for _, text := range texts {
				out = append(out, pair{inner, text})
			}
		default:
			text, err := scalar(v)
			if err != nil {
				return nil, err
			}
			out = append(out, pair{inner, text})
		}
	}
	return out, nil
}

// reservedCharacters are those that allowReserved leaves as they are, but for those that would end a value.
var reservedCharacters = strings.NewReplacer("%3A", ":", "%2F", "/", "%3F", "?", "%5B", "[", "%5D", "]", "%40", "@", "%21", "!", "%24", "$",
	"%27", "'", "%28", "(", "%29", ")", "%2A", "*", "%2C", ",", "%3B", ";")

// escaped writes a value of a query.
func (p parameter) escaped(text string) string {
	out := strings.ReplaceAll(url.QueryEscape(text), "+", "%20")
	if p.reserved {
		return reservedCharacters.Replace(out)
	}
	return out
}

// jsonText writes a value as JSON.
func jsonText(v any) (string, error) {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return strings.TrimSuffix(out.String(), "\n"), err
}
