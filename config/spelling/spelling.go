// Package spelling compares names that people type with those that exist.
package spelling

import (
	"bytes"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Plain returns a name without what people get wrong: case and separators.
func Plain(key string) string {
	return strings.NewReplacer("_", "", "-", "", ".", "", " ", "").Replace(strings.ToLower(key))
}

// MaxSlip limits the bytes of a name that are compared.
const MaxSlip = 64

// Similar returns the key that is most similar to key, or "".
func Similar(key string, keys []string) string {
	plain := Plain(key)
	if len(plain) > MaxSlip {
		return ""
	}
	best, bestCost := "", min((len(plain)+1)/2, 3)+1
	for _, candidate := range keys {
		other := Plain(candidate)
		if len(plain) >= 3 && strings.HasPrefix(other, plain) {
			return candidate
		}
		cost := levenshtein.ComputeDistance(plain, other)
		if sameLetters(plain, other) { // prot
			cost = 1
		}
		if cost < bestCost {
			best, bestCost = candidate, cost
		}
	}
	return best
}

func sameLetters(a, b string) bool {
	x, y := []byte(a), []byte(b)
	slices.Sort(x)
	slices.Sort(y)
	return bytes.Equal(x, y)
}
