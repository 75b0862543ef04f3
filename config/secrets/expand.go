package secrets

import (
	"fmt"
	"maps"
	"slices"
)

// IsReference reports whether a value is a single ${NAME}.
func IsReference(value string) bool {
	m := reference.FindString(value)
	return m != "" && m == value
}

// Unset returns the variables in a value that are not set, without duplicates.
func Unset(value string, getenv func(string) string) []string {
	var out []string
	for _, m := range reference.FindAllStringSubmatch(value, -1) {
		if getenv(m[1]) == "" && !slices.Contains(out, m[1]) {
			out = append(out, m[1])
		}
	}
	return out
}

// Expand returns values with every ${NAME} replaced by that environment variable. whose and key
// say what the values are of, for the error: an *UnsetError.
func Expand(whose, key string, values map[string]string, getenv func(string) string) (map[string]string, error) {
	out := map[string]string{}
	var missing []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		out[name] = reference.ReplaceAllStringFunc(values[name], func(m string) string {
			variable := m[len("${") : len(m)-len("}")]
			value := getenv(variable)
			if value == "" && !slices.Contains(missing, variable) {
				missing = append(missing, variable)
			}
			return value
		})
	}
	if len(missing) > 0 {
		return nil, &UnsetError{Whose: whose, Key: key, Names: missing}
	}
	return out, nil
}

// UnsetError names environment variables that a part of the configuration refers to and that
// are not set.
type UnsetError struct {
	Whose string // such as "mcp server files"
	Key   string // the key with the references
	Names []string
}

func (e *UnsetError) Error() string { return e.Whose + ": " + e.Problem() }

// Problem returns the error without Whose.
func (e *UnsetError) Problem() string {
	return fmt.Sprintf("%s: not set in the environment: %v", e.Key, e.Names)
}
