// Package edit changes arguments of a call that a person approves with changes. A rule says which
// arguments may be changed (verdict.Approval.Edit): names of arguments, or paths such as
// address.city into objects.
package edit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"agent-stop-and-go/workflows/contract/unique"
)

// Update is the update of an Approval that approves its call with changes. Its argument is a
// contract.DecideSignal with Edit, its result that of contract.UpdateDecide. Besides the kinds of
// that it is refused with KindForbidden if a rule refuses the changed call. Workers that do not know
// it refuse it, so that no change is lost on the way.
const Update = "edit"

// MaxSize bounds the JSON of the changes, in bytes.
const MaxSize = 32 << 10

// Change is one changed argument. Before is "" if it was not there. The values are JSON; long ones
// are cut, and the whole ones are in the arguments.
type Change struct {
	Name   string `json:"name"`
	Before string `json:"before,omitempty"`
	After  string `json:"after"`
}

// maxShown bounds a value of a Change, in characters.
const maxShown = 200

// Parse reads changes: an object of names and new values. Nothing and null are no changes.
func Parse(raw json.RawMessage) (map[string]any, error) {
	if trimmed := bytes.TrimSpace(raw); len(trimmed) == 0 || string(trimmed) == "null" {
		return nil, nil
	}
	if len(raw) > MaxSize {
		return nil, fmt.Errorf("edit: has %d bytes, more than %d", len(raw), MaxSize)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	v, err := unique.Decode(dec)
	if err == nil {
		if _, rest := dec.Token(); !errors.Is(rest, io.EOF) {
			err = errors.New("is more than one value")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("edit: %w", err)
	}
	changes, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New(`edit: must be an object of arguments and their new values, such as {"amount":400}`)
	}
	return changes, nil
}

// Canonical returns changes in one form: with sorted names and without space. It is nil for none, and
// for what are no changes.
func Canonical(raw json.RawMessage) json.RawMessage {
	changes, err := Parse(raw)
	if err != nil || len(changes) == 0 {
		return nil
	}
	out, err := encode(changes)
	if err != nil {
		return nil
	}
	return out
}

// Check returns why changes are not allowed, or nil.
func Check(raw json.RawMessage, allowed []string) error {
	changes, err := Parse(raw)
	if err != nil {
		return err
	}
	if len(allowed) == 0 {
		return errors.New("edit: no argument of this call may be changed; a rule allows it with ask: {edit: [NAME]}")
	}
	if len(changes) == 0 {
		return errors.New("edit: nothing is changed")
	}
	for _, name := range names(changes) {
		if !slices.Contains(allowed, name) {
			return fmt.Errorf("edit: %.100q may not be changed; what may be changed is %s", name, strings.Join(allowed, ", "))
		}
	}
	return nil
}

// Apply returns the arguments with the changes, which must be allowed. Nothing else of them changes.
func Apply(args, changes json.RawMessage, allowed []string) (json.RawMessage, error) {
	if err := Check(changes, allowed); err != nil {
		return nil, err
	}
	values, err := Parse(changes)
	if err != nil {
		return nil, err
	}
	object, err := decode(args)
	if err != nil {
		return nil, err
	}
	for _, name := range names(values) {
		if err := set(object, name, values[name]); err != nil {
			return nil, err
		}
	}
	return encode(object)
}

// Between lists how the named arguments differ, and fails if anything else does, or nothing.
func Between(before, after json.RawMessage, named json.RawMessage) ([]Change, error) {
	values, err := Parse(named)
	if err != nil {
		return nil, err
	}
	was, err := decode(before)
	if err != nil {
		return nil, err
	}
	is, err := decode(after)
	if err != nil {
		return nil, err
	}
	var out []Change
	for _, name := range names(values) {
		old, there := get(was, name)
		now, _ := get(is, name)
		if c := (Change{Name: name, Before: text(old), After: text(now)}); c.Before != c.After || !there {
			if !there {
				c.Before = ""
			}
			c.Before, c.After = shown(c.Before), shown(c.After)
			out = append(out, c)
		}
		if err := set(was, name, now); err != nil {
			return nil, err
		}
	}
	switch {
	case text(was) != text(is):
		return nil, errors.New("edit: the tool would get other arguments changed, too")
	case len(out) == 0:
		return nil, errors.New("edit: nothing is changed")
	}
	return out, nil
}

// names returns the names in order.
//
//workflowcheck:ignore
func names(changes map[string]any) []string { return slices.Sorted(maps.Keys(changes)) }

// find returns the object that a name is a member of, and the member. An argument whose own name
// has a dot is meant before a path.
func find(object map[string]any, name string) (map[string]any, string, error) {
	if _, there := object[name]; there {
		return object, name, nil
	}
	path := strings.Split(name, ".")
	for i, key := range path[:len(path)-1] {
		inner, ok := object[key].(map[string]any)
		if !ok {
			return nil, "", fmt.Errorf("edit: the call has no object %s to change %s in", strings.Join(path[:i+1], "."), path[len(path)-1])
		}
		object = inner
	}
	return object, path[len(path)-1], nil
}

func set(object map[string]any, name string, value any) error {
	in, key, err := find(object, name)
	if err != nil {
		return err
	}
	for other := range in {
		if other != key && strings.EqualFold(other, key) {
			return fmt.Errorf("edit: the call has %.100q, not %.100q", other, key)
		}
	}
	in[key] = value
	return nil
}

func get(object map[string]any, name string) (any, bool) {
	in, key, err := find(object, name)
	if err != nil {
		return nil, false
	}
	v, ok := in[key]
	return v, ok
}

func decode(args json.RawMessage) (map[string]any, error) {
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.UseNumber()
	object := map[string]any{}
	if err := dec.Decode(&object); err != nil {
		return nil, fmt.Errorf("edit: the arguments of the call cannot be read: %w", err)
	}
	if object == nil {
		object = map[string]any{}
	}
	return object, nil
}

func encode(v any) (json.RawMessage, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("edit: encode the arguments: %w", err)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// text returns the JSON of a decoded value.
func text(v any) string {
	data, err := encode(v)
	if err != nil { // not of a decoded value
		return ""
	}
	return string(data)
}

func shown(value string) string {
	if r := []rune(value); len(r) > maxShown {
		return string(r[:maxShown]) + "… (cut)"
	}
	return value
}
