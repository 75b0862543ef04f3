package secrets

import (
	"strings"

	"agent-stop-and-go/config/spelling"
)

// InName reports whether a key or variable of this name would hold a secret, which the
// file must not contain. contract.SecretName hides more names: a file is not refused for
// AUTH_URL or KEY_FILE.
func InName(name string) bool {
	plain := spelling.Plain(name)
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
