package adoption

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"agent-stop-and-go/workflows/contract"
)

// maxValue bounds a shown value, maxChanges the shown changes.
const (
	maxValue   = 60
	maxChanges = 12
)

// changes lists the settings that differ: where, before and after.
func changes(before, after contract.Agent) []string {
	old, new := settings(before), settings(after)
	paths := slices.Sorted(maps.Keys(new))
	for path := range old {
		if _, both := new[path]; !both {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	var out []string
	for _, path := range paths {
		if old[path] != new[path] {
			out = append(out, fmt.Sprintf("%s: %s → %s", path, short(old[path]), short(new[path])))
		}
	}
	if more := len(out) - maxChanges; more > 0 {
		out = append(out[:maxChanges], fmt.Sprintf("and %d more", more))
	}
	return out
}

// settings returns the leaves of a configuration's JSON by their paths.
func settings(a contract.Agent) map[string]string {
	out := map[string]string{}
	data, err := json.Marshal(a)
	var v any
	if err == nil {
		err = json.Unmarshal(data, &v)
	}
	if err != nil { // wire types can be encoded
		panic(fmt.Sprintf("encode agent: %v", err))
	}
	flatten(out, "", v)
	return out
}

func flatten(out map[string]string, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			under := key
			if path != "" {
				under = path + "." + key
			}
			flatten(out, under, value)
		}
	case []any:
		for i, value := range v {
			flatten(out, fmt.Sprintf("%s[%d]", path, i), value)
		}
	default:
		data, _ := json.Marshal(v) // it was JSON before
		out[path] = string(data)
	}
}

func short(value string) string {
	if value == "" {
		return "none"
	}
	if r := []rune(value); len(r) > maxValue {
		return string(r[:maxValue]) + "…"
	}
	return value
}
