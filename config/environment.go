package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
)

var reference = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// isReference tells whether a value is nothing but ${NAME}.
func isReference(value string) bool {
	m := reference.FindString(value)
	return m != "" && m == value
}

// Environment is Env with every ${NAME} replaced by that variable of ours. A
// variable that is not set is an error that names it.
func (s MCPServer) Environment(getenv func(string) string) (map[string]string, error) {
	env := map[string]string{}
	var missing []string
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		env[name] = reference.ReplaceAllStringFunc(s.Env[name], func(m string) string {
			variable := m[len("${") : len(m)-len("}")]
			value := getenv(variable)
			if value == "" {
				missing = append(missing, variable)
			}
			return value
		})
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("mcp server %s: env: not set in the environment: %v", s.Name, missing)
	}
	return env, nil
}
