package redact

import (
	"regexp"
	"slices"
)

var secretName = regexp.MustCompile(`(?i)auth|token|key|secret|passw|passphrase|pwd|cookie|credential|bearer|signature|^sig$|^code$`)

// SecretName reports whether a variable, a header, an option of a command or a parameter of a
// URL with this name may hold a secret. In doubt it does, except for PWD.
func SecretName(name string) bool {
	return secretName.MatchString(name) && !slices.Contains([]string{"PWD", "OLDPWD"}, name)
}
