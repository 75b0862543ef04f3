// Package template reads and fills in the placeholders of prompts: {key}, where
// key is made of letters, digits and underscores.
package template

import (
	"regexp"
	"slices"
)

var placeholder = regexp.MustCompile(`\{([A-Za-z0-9_]+)\}`)

// Keys lists the placeholders in a text, each once, in the order in which they
// first appear.
func Keys(text string) []string {
	var keys []string
	for _, m := range placeholder.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(keys, m[1]) {
			keys = append(keys, m[1])
		}
	}
	return keys
}

// Fill replaces the placeholders that value knows. A placeholder without a value,
// or with an empty one, stays as it is. Values are not filled in again.
func Fill(text string, value func(key string) string) string {
	return placeholder.ReplaceAllStringFunc(text, func(found string) string {
		if v := value(found[1 : len(found)-1]); v != "" {
			return v
		}
		return found
	})
}
