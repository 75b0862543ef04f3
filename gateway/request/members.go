package request

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"

	"agent-stop-and-go/gateway/service"
)

// membersOf returns the JSON names of a struct's fields.
func membersOf(v any) []string {
	var names []string
	for _, f := range reflect.VisibleFields(reflect.Indirect(reflect.ValueOf(v)).Type()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// CheckMembers refuses an object with unknown members, so that nothing a caller wrote is
// ignored silently. As in Decode, the case of names does not matter.
func CheckMembers(data []byte, known []string) error {
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil { // not an object; the caller refuses it
		return nil
	}
	unknown := []string{}
	for name := range members {
		if !slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	slices.Sort(unknown)
	return fmt.Errorf(`unknown member "%s"%s`, service.Printable(unknown[0]), suggestion(unknown[0], known))
}

// maxSlip limits the bytes of a name that are compared.
const maxSlip = 64

func suggestion(name string, known []string) string {
	nearest, least := "", 4
	for _, k := range known {
		if d := levenshtein.ComputeDistance(strings.ToLower(name[:min(len(name), maxSlip)]), k); d < least && d < len(k) {
			nearest, least = k, d
		}
	}
	if nearest != "" {
		return `: did you mean "` + nearest + `"?`
	}
	return `; known here: "` + strings.Join(known, `", "`) + `"`
}

// Duplicate returns the first of the keys that an object has more than once, in any case. What decides an
// approval must not be there twice:
// encoding/json would take the last of two contradicting members.
func Duplicate(object json.RawMessage, keys ...string) string {
	dec := json.NewDecoder(bytes.NewReader(object))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return ""
	}
	seen := map[string]bool{}
	for dec.More() {
		t, err := dec.Token()
		var value json.RawMessage
		if err != nil || dec.Decode(&value) != nil {
			return ""
		}
		name, _ := t.(string)
		for _, key := range keys {
			if strings.EqualFold(key, name) {
				if seen[key] {
					return key
				}
				seen[key] = true
			}
		}
	}
	return ""
}
