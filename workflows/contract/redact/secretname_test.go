package redact_test

import (
	"testing"

	"agent-stop-and-go/workflows/contract/redact"
)

func TestNamesOfSecrets(t *testing.T) {
	for _, name := range []string{
		"API_TOKEN", "DB_PASSWD", "DB_PASSWORD", "db-pwd", "SSH_PASSPHRASE", "X-Auth", "Cookie", "GITHUB_KEY", "AWS_CREDENTIALS",
		"bearer", "X-Signature", "sig", "code",
	} {
		if !redact.SecretName(name) {
			t.Errorf("%s is no secret", name)
		}
	}
	for _, name := range []string{"PWD", "OLDPWD", "HOME", "X-Team", "DSN", "postcode", "design", ""} {
		if redact.SecretName(name) {
			t.Errorf("%s is a secret", name)
		}
	}
}
