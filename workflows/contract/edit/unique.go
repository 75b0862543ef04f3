package edit

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

var errNoJSON = errors.New("is not JSON")

// unique decodes a value whose objects name no member twice, in any case: programs disagree on
// which of them counts.
func unique(dec *json.Decoder) (any, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, errNoJSON
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
			return nil, errNoJSON
		}
		key, _ := token.(string)
		if folded := strings.ToLower(key); seen[folded] {
			return nil, fmt.Errorf("%.100q is there twice", key)
		} else {
			seen[folded] = true
		}
		if out[key], err = unique(dec); err != nil {
			return nil, err
		}
	}
	return out, end(dec)
}

func items(dec *json.Decoder) (any, error) {
	out := []any{}
	for dec.More() {
		v, err := unique(dec)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, end(dec)
}

func end(dec *json.Decoder) error {
	if _, err := dec.Token(); err != nil {
		return errNoJSON
	}
	return nil
}
