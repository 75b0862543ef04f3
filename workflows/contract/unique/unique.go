// Package unique decodes JSON that every program reads alike: whose objects name no member twice.
package unique

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// ErrNoJSON is returned for what cannot be read.
var ErrNoJSON = errors.New("is not JSON")

// Decode returns the next value. It fails if an object names a member twice, in any case: programs
// disagree on which of them counts. Names that some programs fold to one, such as s and ſ, are the same.
func Decode(dec *json.Decoder) (any, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, ErrNoJSON
	}
	switch token {
	case json.Delim('{'):
		return members(dec)
	case json.Delim('['):
		return items(dec)
	}
	return token, nil
}

func members(dec *json.Decoder) (any, error) {
	out, seen := map[string]any{}, map[string]bool{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, ErrNoJSON
		}
		key, _ := token.(string)
		if folded := strings.ToLower(strings.ToUpper(key)); seen[folded] {
			return nil, fmt.Errorf("%.100q is there twice", key)
		} else {
			seen[folded] = true
		}
		if out[key], err = Decode(dec); err != nil {
			return nil, err
		}
	}
	return out, end(dec)
}

func items(dec *json.Decoder) (any, error) {
	out := []any{}
	for dec.More() {
		v, err := Decode(dec)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, end(dec)
}

func end(dec *json.Decoder) error {
	if _, err := dec.Token(); err != nil {
		return ErrNoJSON
	}
	return nil
}
