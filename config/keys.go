package config

import (
	"bytes"
	"reflect"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// unknownKey reports an unknown key and suggests a similar one. It never shows the key's
// value.
func (d decoder) unknownKey(line int, path, key string, t reflect.Type) {
	plural := func(known string) bool { return plainKey(known) == plainKey(key)+"s" } // max_token
	if looksSecret(key) && !slices.ContainsFunc(keysOf(t), plural) {
		d.atLine(line, path, "secrets do not belong in this file; set an environment variable instead, "+
			"for a model its provider's key, such as GEMINI_API_KEY")
		return
	}
	hint := ""
	if similar := similarKey(key, keysOf(t)); similar != "" {
		hint = "did you mean " + similar + "? "
	}
	d.atLine(line, path, "unknown key; %sallowed here: %s", hint, strings.Join(keysOf(t), ", "))
}

// looksSecret reports whether a key or variable of this name would hold a secret, which the
// file must not contain. contract.SecretName hides more names: a file is not refused for
// AUTH_URL or KEY_FILE.
func looksSecret(name string) bool {
	plain := plainKey(name)
	for _, end := range []string{
		"apikey", "accesskey", "secretkey", "privatekey", "token", "secret", "password", "passwd",
		"passphrase", "credential", "credentials", "bearer", "authorization",
	} {
		if strings.HasSuffix(plain, end) {
			return true
		}
	}
	return false
}

func plainKey(key string) string {
	return strings.NewReplacer("_", "", "-", "", ".", "", " ", "").Replace(strings.ToLower(key))
}

// maxSlip limits the bytes of a name that are compared.
const maxSlip = 64

// similarKey returns the key that is most similar to key, or "".
func similarKey(key string, keys []string) string {
	plain := plainKey(key)
	if len(plain) > maxSlip {
		return ""
	}
	best, bestCost := "", min((len(plain)+1)/2, 3)+1
	for _, candidate := range keys {
		other := plainKey(candidate)
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
