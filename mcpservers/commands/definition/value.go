package definition

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

const (
	maxItems = 1000
	// maxValue is the size of one value in bytes: Linux allows 128 KiB for a string of argv or the
	// environment, with its name.
	maxValue = 120_000
	// maxTotal bounds all strings of argv and environment. Linux allows a quarter of the stack's limit,
	// which is 2 MiB by default.
	maxTotal = 1 << 20
)

// Value is the checked value of one argument.
type Value struct {
	Texts []string // one for a scalar
	Raw   any      // as it was given, for JSON
	Given bool     // false: absent, and there is no default
}

// Values are the values of a call by the names of all parameters.
type Values map[string]Value

// Values checks the arguments of a call and adds defaults. Unknown arguments, and hidden ones, are
// refused. A null argument counts as absent.
func (ps Parameters) Values(args map[string]json.RawMessage) (Values, error) {
	values := Values{}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		p := ps.Get(name)
		if p == nil || p.Hidden {
			return nil, fmt.Errorf("unknown argument %q, allowed: %s", name, strings.Join(ps.Offered(), ", "))
		}
		if bytes.Equal(bytes.TrimSpace(args[name]), []byte("null")) {
			continue
		}
		raw, err := decodeJSON(args[name])
		if err == nil {
			values[name], err = p.Set(raw)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	for i := range ps {
		if err := values.complete(&ps[i]); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// complete sets the value of an absent argument.
func (v Values) complete(p *Parameter) (err error) {
	if v[p.Name].Given {
		return nil
	}
	switch {
	case p.Default != nil:
		v[p.Name], err = p.Set(p.Default)
	case p.Required:
		err = fmt.Errorf("%s is required", p.Name)
	case p.IsBool():
		v[p.Name], err = p.Set(false)
	case p.IsList():
		v[p.Name] = Value{Texts: []string{}, Raw: []any{}}
	default:
		v[p.Name] = Value{Raw: ""}
	}
	return err
}

// decodeJSON keeps integers beyond 2^53.
func decodeJSON(raw json.RawMessage) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return nil, err
	}
	return plain(value), nil
}

func plain(value any) any {
	switch v := value.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		if f, err := v.Float64(); err == nil {
			return f
		}
		return v.String()
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	}
	return value
}

// Parameters are all parameters of a definition in the order of its file.
type Parameters []Parameter

// Get returns a parameter, nil if there is none with the name.
func (ps Parameters) Get(name string) *Parameter {
	for i := range ps {
		if ps[i].Name == name {
			return &ps[i]
		}
	}
	return nil
}

// Offered are the names that callers may use, sorted.
func (ps Parameters) Offered() (names []string) {
	for _, p := range ps {
		if !p.Hidden {
			names = append(names, p.Name)
		}
	}
	slices.Sort(names)
	return names
}

// Schema returns properties and required names for callers.
func (ps Parameters) Schema() (properties map[string]any, required []string) {
	properties = map[string]any{}
	for i := range ps {
		if ps[i].Hidden {
			continue
		}
		properties[ps[i].Name] = ps[i].Schema()
		if ps[i].Required && ps[i].Default == nil {
			required = append(required, ps[i].Name)
		}
	}
	slices.Sort(required)
	return properties, required
}

// check reports wrong and duplicate parameters, also those whose variables in a script would be the same.
func (ps Parameters) check() (errs []error) {
	seen := map[string]string{}
	for i := range ps {
		if err := ps[i].check(); err != nil {
			errs = append(errs, err)
			continue
		}
		variable := Variable(ps[i].Name)
		if other, ok := seen[variable]; ok {
			errs = append(errs, fmt.Errorf("the arguments %s and %s have the same variable %s", other, ps[i].Name, variable))
		}
		seen[variable] = ps[i].Name
	}
	return errs
}
