package config

import (
	"fmt"

	"agent-stop-and-go/config/secrets"
	"agent-stop-and-go/workflows/contract/network"
)

// Push configures the web hooks of A2A tasks.
type Push struct {
	AllowPrivate  bool   `yaml:"allow_private" jsonschema:"default=false" jsonschema_description:"true: notifications may also go to loopback and private addresses, but never to link-local ones. Whoever can send messages can name such an address."`
	AllowLoopback bool   `yaml:"allow_loopback" jsonschema:"default=false" jsonschema_description:"true: notifications may also go to loopback addresses, that is, to this machine."`
	SigningKey    string `yaml:"signing_key" jsonschema_description:"${NAME}: an environment variable that holds a secret of at least 32 bytes. It signs the notifications to web hooks that were set without a token. Empty: those are not signed."`
}

// Reach returns the addresses that notifications may be sent to.
func (p Push) Reach() network.Reach {
	switch {
	case p.AllowPrivate:
		return network.ReachPrivate
	case p.AllowLoopback:
		return network.ReachLoopback
	}
	return network.ReachPublic
}

// minSigningKey is the output size of HMAC-SHA256 (RFC 2104 §3).
const minSigningKey = 32

// Key returns SigningKey with ${NAME} replaced by that environment variable, or nil if
// notifications are not signed. A variable that is not set or too short is an error that
// names it.
func (p Push) Key(getenv func(string) string) ([]byte, error) {
	if p.SigningKey == "" {
		return nil, nil
	}
	values, err := secrets.Expand("push", "signing_key", map[string]string{"": p.SigningKey}, getenv)
	if err != nil {
		return nil, err
	}
	key := []byte(values[""])
	if len(key) < minSigningKey {
		return nil, fmt.Errorf("push: signing_key: %s has %d bytes, expected at least %d", p.SigningKey, len(key), minSigningKey)
	}
	return key, nil
}

// checkSigningKey never shows the value, which may be the key itself.
func checkSigningKey(r *report, path, value string) {
	if value != "" && !secrets.IsReference(value) {
		r.at(path, "secrets do not belong in this file; write ${PUSH_SIGNING_KEY} and set it in the agent's own environment")
	}
}
