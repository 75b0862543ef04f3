package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
)

var reference = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// isReference reports whether a value is a single ${NAME}.
func isReference(value string) bool {
	m := reference.FindString(value)
	return m != "" && m == value
}

// Environment returns Env with every ${NAME} replaced by that environment variable. A
// variable that is not set is an error that names it.
func (s MCPServer) Environment(getenv func(string) string) (map[string]string, error) {
	return expand("mcp server "+s.Name, "env", s.Env, getenv)
}

// HTTPHeaders returns Headers with every ${NAME} replaced as in Environment. An invalid
// header value is an error that does not contain it.
func (s MCPServer) HTTPHeaders(getenv func(string) string) (map[string]string, error) {
	return expandHeaders("mcp server "+s.Name, s.Headers, getenv)
}

func expandHeaders(whose string, values map[string]string, getenv func(string) string) (map[string]string, error) {
	headers, err := expand(whose, "headers", values, getenv)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		if !isHeaderValue(headers[name]) {
			return nil, fmt.Errorf("%s: headers.%s: the value has a line break or another control character in it", whose, name)
		}
	}
	return headers, nil
}

func expand(whose, key string, values map[string]string, getenv func(string) string) (map[string]string, error) {
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
