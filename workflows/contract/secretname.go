package contract

import (
	"regexp"
	"slices"
)

var secretName = regexp.MustCompile(`(?i)auth|token|key|secret|passw|passphrase|pwd|cookie|credential|bearer|signature|^sig$|^code$`)

// SecretName reports whether what has this name holds a secret: a variable, a header, an
// option of a command, a parameter of a URL. In doubt it does. The working directory is
// none.
func SecretName(name string) bool {
	return secretName.MatchString(name) && !slices.Contains([]string{"PWD", "OLDPWD"}, name)
}
