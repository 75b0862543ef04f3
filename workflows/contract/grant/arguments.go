package grant

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"agent-stop-and-go/workflows/contract/unique"
)

// Opened is an argument that may be any value of its kind.
type Opened struct {
	// Name is the name of an argument, or a pointer (RFC 6901) into objects.
	Name string `json:"name"`
	Kind string `json:"kind"` // text, number, truth value, list, object or null
}

// Arguments are those that calls have in common: all but those that are open.
type Arguments struct {
	// Rest is their canonical JSON: sorted keys, no space, texts and numbers as they are.
	Rest json.RawMessage `json:"rest,omitempty"`
	// SHA256 is the digest of Rest.
	SHA256 string   `json:"sha256"`
	Open   []Opened `json:"open,omitempty"`
}

// Of returns the arguments of a call with some left open. What is open must be there.
//
// Programs must not be able to read different values in what is the same here. So arguments that
// name a member twice, in any case, or have texts that are not Unicode, are refused.
func Of(args json.RawMessage, open []string) (a Arguments, err error) {
	object, err := decode(args)
	if err != nil {
		return a, err
	}
	for _, name := range slices.Sorted(slices.Values(open)) {
		kind, err := take(object, name)
		if err != nil {
			return a, err
		}
		a.Open = append(a.Open, Opened{name, kind})
	}
	if a.Rest, err = encode(object); err == nil {
		sum := sha256.Sum256(a.Rest)
		a.SHA256 = hex.EncodeToString(sum[:])
	}
	return a, err
}

// Cover reports whether a call with other arguments is the same: each argument that is not open is
// there with the same value of the same type, each that is open with a value of its kind, and no
// other is there.
func (a Arguments) Cover(args json.RawMessage) bool {
	var names []string
	for _, o := range a.Open {
		names = append(names, o.Name)
	}
	other, err := Of(args, names)
	return err == nil && a.SHA256 != "" && other.SHA256 == a.SHA256 && slices.Equal(other.Open, a.Open)
}

// take removes an argument and returns the kind of its value.
func take(object map[string]any, name string) (kind string, err error) {
	path := []string{name}
	if rest, pointer := strings.CutPrefix(name, "/"); pointer {
		path = strings.Split(rest, "/")
		for i, key := range path {
			path[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(key)
		}
	}
	for _, key := range path[:len(path)-1] {
		inner, ok := object[key].(map[string]any)
		if !ok {
			return "", fmt.Errorf("always: the call has no argument %.100q to leave open", name)
		}
		object = inner
	}
	key := path[len(path)-1]
	value, there := object[key]
	if !there {
		return "", fmt.Errorf("always: the call has no argument %.100q to leave open", name)
	}
	delete(object, key)
	return kindOf(value), nil
}

func kindOf(value any) string {
	switch value.(type) {
	case string:
		return "text"
	case json.Number:
		return "number"
	case bool:
		return "truth value"
	case []any:
		return "list"
	case map[string]any:
		return "object"
	}
	return "null"
}

func decode(args json.RawMessage) (map[string]any, error) {
	switch {
	case len(args) > MaxArguments:
		return nil, fmt.Errorf("the arguments have %d bytes, more than %d", len(args), MaxArguments)
	case !utf8.Valid(args):
		return nil, errNoUnicode
	}
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.UseNumber()
	v, err := unique.Decode(dec)
	switch {
	case errors.Is(err, unique.ErrNoJSON):
		return nil, errors.New("the arguments are not JSON")
	case err != nil:
		return nil, fmt.Errorf("the arguments: %w", err)
	case !isUnicode(args):
		return nil, errNoUnicode
	}
	object, ok := v.(map[string]any)
	if _, rest := dec.Token(); !ok || !errors.Is(rest, io.EOF) {
		return nil, errors.New("the arguments are no object")
	}
	return object, nil
}

// errNoUnicode is returned because the decoder replaces what is not Unicode by U+FFFD: different texts
// would be the same.
var errNoUnicode = errors.New("the arguments have a text that is not Unicode, or U+FFFD")

// isUnicode reports whether no text in JSON, and no name of a member, has U+FFFD.
func isUnicode(raw json.RawMessage) bool {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	for {
		token, err := dec.Token()
		if err != nil { // the end: it was decoded before
			return true
		}
		if text, ok := token.(string); ok && strings.ContainsRune(text, utf8.RuneError) {
			return false
		}
	}
}

func encode(v any) (json.RawMessage, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode the arguments: %w", err)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}
