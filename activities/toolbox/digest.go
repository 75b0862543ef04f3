package toolbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"agent-stop-and-go/workflows/contract"
)

var errNoObject = errors.New("the arguments must be a JSON object")

// CanonicalArguments returns the canonical form of arguments: sorted keys, no space, numbers as
// written, the last of equal keys. No arguments and null are {}.
func CanonicalArguments(args json.RawMessage) (json.RawMessage, error) {
	value, err := decodeArguments(args)
	if err != nil {
		return nil, err
	}
	return encode(value)
}

// Digest returns the SHA-256 of the canonical arguments in lower-case hex.
func Digest(args json.RawMessage) (string, error) {
	canonical, err := CanonicalArguments(args)
	if err != nil {
		return "", err
	}
	return contract.Hash(canonical), nil
}

func decodeArguments(args json.RawMessage) (map[string]any, error) {
	trimmed := bytes.TrimSpace(args)
	if len(trimmed) == 0 || string(trimmed) == "null" {
		return map[string]any{}, nil
	}
	dec := json.NewDecoder(bytes.NewReader(trimmed))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return nil, fmt.Errorf("the arguments are not valid JSON: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("the arguments are not valid JSON: more than one value")
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, errNoObject
	}
	return object, nil
}

func encode(value any) (json.RawMessage, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return nil, fmt.Errorf("encode the arguments: %w", err)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}
