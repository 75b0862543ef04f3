package protocol

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// A shape checks a decoded JSON value and returns it in the form that the SDK's types read,
// without members that the shape does not name. at is the path of the value, for errors.
type shape func(at string, v any) (any, error)

// read checks params and decodes the result into to, a type of the SDK.
func (s shape) read(params, to any) error {
	if params == nil {
		params = map[string]any{}
	}
	clean, err := s("", params)
	if err != nil {
		return err
	}
	data, err := json.Marshal(clean)
	if err == nil {
		err = json.Unmarshal(data, to)
	}
	if err != nil {
		return fmt.Errorf("read params that have the right shape: %w", err)
	}
	return nil
}

type member struct {
	name     string
	shape    shape
	required bool
}

func required(name string, s shape) member { return member{name, s, true} }
func optional(name string, s shape) member { return member{name, s, false} }

// object is a JSON object. Members it does not name are dropped, and null counts as absent.
func object(members ...member) shape {
	return objectOf(members, func(name string) string { return name })
}

// proto is an object in ProtoJSON, whose names may also be in snake_case.
func proto(members ...member) shape { return objectOf(members, snake) }

func objectOf(members []member, alias func(string) string) shape {
	return func(at string, v any) (any, error) {
		in, ok := v.(map[string]any)
		if !ok {
			return nil, invalid(at, "must be an object")
		}
		out := make(map[string]any, len(in))
		for _, m := range members {
			value := in[m.name]
			if value == nil {
				value = in[alias(m.name)]
			}
			if err := m.put(out, at, value); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
}

func (m member) put(out map[string]any, at string, value any) (err error) {
	if at = strings.TrimPrefix(at+"."+m.name, "."); value != nil {
		out[m.name], err = m.shape(at, value)
		return err
	}
	if m.required {
		return invalid(at, "is missing")
	}
	return nil
}

func snake(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// list is an array of a minimum length.
func list(item shape, least int) shape {
	return func(at string, v any) (any, error) {
		in, ok := v.([]any)
		if !ok {
			return nil, invalid(at, "must be an array")
		}
		if len(in) < least {
			return nil, invalid(at, "must not be empty")
		}
		out := make([]any, len(in))
		for i, value := range in {
			var err error
			if out[i], err = item(at+"["+strconv.Itoa(i)+"]", value); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
}

func anything(_ string, v any) (any, error) { return v, nil }

func mapping(at string, v any) (any, error) {
	if _, ok := v.(map[string]any); !ok {
		return nil, invalid(at, "must be an object")
	}
	return v, nil
}

func text(at string, v any) (any, error) {
	if _, ok := v.(string); !ok {
		return nil, invalid(at, "must be a string")
	}
	return v, nil
}

// name is a non-empty string.
func name(at string, v any) (any, error) {
	if v == "" {
		return nil, invalid(at, "must not be empty")
	}
	return text(at, v)
}

func flag(at string, v any) (any, error) {
	if _, ok := v.(bool); !ok {
		return nil, invalid(at, "must be true or false")
	}
	return v, nil
}

// number is an integer. ProtoJSON allows it as a string.
func number(least, most int) shape {
	return func(at string, v any) (any, error) {
		written, ok := v.(json.Number)
		if s, isText := v.(string); isText {
			written, ok = json.Number(s), true
		}
		n, err := strconv.ParseFloat(string(written), 64)
		if !ok || err != nil || n != math.Trunc(n) {
			return nil, invalid(at, "must be an integer")
		}
		if n < float64(least) || n > float64(most) {
			return nil, invalid(at, fmt.Sprintf("must be between %d and %d", least, most))
		}
		return int(n), nil
	}
}

func oneOf(names ...string) shape {
	return func(at string, v any) (any, error) {
		for _, n := range names {
			if v == n {
				return n, nil
			}
		}
		return nil, invalid(at, "must be one of "+strings.Join(names, ", "))
	}
}

// enum is one of the names, or its number. An empty name only takes up a number.
func enum(names ...string) shape {
	named := oneOf(slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "" })...)
	return func(at string, v any) (any, error) {
		for i, n := range names {
			if n != "" && v == json.Number(strconv.Itoa(i)) {
				return n, nil
			}
		}
		return named(at, v)
	}
}

func instantOf(at string, v any) (any, error) {
	s, _ := v.(string)
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return nil, invalid(at, "must be a time such as 2025-10-28T10:30:00.000Z")
	}
	return t, nil
}

var urlToStandard = strings.NewReplacer("-", "+", "_", "/")

// raw is base64 in either alphabet, with or without padding.
func raw(at string, v any) (any, error) {
	s, ok := v.(string)
	data, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(urlToStandard.Replace(s), "="))
	if !ok || err != nil {
		return nil, invalid(at, "must be base64")
	}
	return base64.StdEncoding.EncodeToString(data), nil
}
