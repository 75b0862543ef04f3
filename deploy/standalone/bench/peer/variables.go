package peer

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// variables have values, by name.
type variables map[string]string

// with returns a copy with further variables.
func (v variables) with(more variables) variables {
	all := maps.Clone(v)
	maps.Copy(all, more)
	return all
}

var reference = regexp.MustCompile(`\$\{(\w+)\}`)

// expand replaces each ${NAME}. An unknown one is an error.
func (v variables) expand(text string) (string, error) { return v.replace(text, strings.Clone) }

// expandJSON is expand for a text in JSON, with variables inside of its strings.
func (v variables) expandJSON(text string) (string, error) { return v.replace(text, quoted) }

func (v variables) replace(text string, render func(string) string) (string, error) {
	var unknown string
	out := reference.ReplaceAllStringFunc(text, func(found string) string {
		name := found[2 : len(found)-1]
		value, ok := v[name]
		if !ok {
			unknown = name
		}
		return render(value)
	})
	if unknown != "" {
		names := slices.Sorted(maps.Keys(v))
		return "", fmt.Errorf("no variable ${%s}; there are %s", unknown, strings.Join(names, ", "))
	}
	return out, nil
}

// quoted returns a text as it is written between the quotes of a JSON string.
func quoted(text string) string {
	data, _ := json.Marshal(text) // of a string it does not fail
	return string(data[1 : len(data)-1])
}

// environment returns the variables as an environment.
func (v variables) environment() []string {
	out := make([]string, 0, len(v))
	for _, name := range slices.Sorted(maps.Keys(v)) {
		out = append(out, name+"="+v[name])
	}
	return out
}
