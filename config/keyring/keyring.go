package keyring

import (
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"agent-stop-and-go/workflows/credential"
	"agent-stop-and-go/workflows/credential/keyfile"
)

// Variable is the environment variable with the keys that seal callers' tokens:
// "id:base64,id2:base64". The first key seals, all of them open.
const Variable = "AGENT_CREDENTIAL_KEYS"

// Open returns the keys that seal callers' tokens: those in Variable, or else, on a single
// machine, those in a key file in the folder dataDir, which it creates if necessary. Clustered
// processes must be given keys, because each would create its own. No error contains a key.
func Open(dataDir string, getenv func(string) string, clustered bool) (*credential.Keyring, error) {
	if text := strings.TrimSpace(getenv(Variable)); text != "" {
		return parseKeys(Variable, text)
	}
	if clustered {
		return nil, fmt.Errorf("%s is not set, and every worker and gateway needs the same keys: "+
			`make one with "openssl rand -base64 32" and set %s=k1:KEY`, Variable, Variable)
	}
	path := filepath.Join(dataDir, "credential.key")
	text, err := keyfile.Open(path, func() (string, error) {
		key, err := credential.NewKey()
		return Format(key), err
	})
	if err != nil {
		return nil, fmt.Errorf("read the credential key: %w", err)
	}
	return parseKeys(path, strings.TrimSpace(text))
}

// keyID is shorter than a key, so that a key in its place is refused and never shown.
var keyID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`)

func parseKeys(source, text string) (*credential.Keyring, error) {
	keys, err := Parse(source, text)
	if err != nil {
		return nil, err
	}
	ring, err := credential.NewKeyring(keys...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	return ring, nil
}

// Parse reads keys in the form "id:base64,id2:base64". source is where they are from, for errors,
// none of which contains a key.
func Parse(source, text string) ([]credential.Key, error) {
	var keys []credential.Key
	seen := map[string]bool{}
	for i, part := range strings.Split(text, ",") {
		key, err := parseKey(strings.TrimSpace(part))
		if err == nil && seen[key.ID] {
			err = errors.New("its id is used twice")
		}
		if err != nil {
			return nil, fmt.Errorf("%s: key %d: %w", source, i+1, err)
		}
		seen[key.ID] = true
		keys = append(keys, key)
	}
	return keys, nil
}

// Format returns a key as Parse reads it.
func Format(k credential.Key) string {
	return k.ID + ":" + base64.StdEncoding.EncodeToString(k.Secret)
}

func parseKey(part string) (credential.Key, error) {
	id, text, ok := strings.Cut(part, ":")
	if !ok {
		return credential.Key{}, errors.New("must be id:base64")
	}
	if !keyID.MatchString(id) {
		return credential.Key{}, errors.New("its id, before the colon, must be 1 to 32 letters, digits, - or _")
	}
	secret, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil {
		return credential.Key{}, errors.New("what follows the colon is not base64") // err contains a part of the key
	}
	if len(secret) != credential.KeySize {
		return credential.Key{}, fmt.Errorf("it has %d bytes instead of %d; make one with openssl rand -base64 32",
			len(secret), credential.KeySize)
	}
	return credential.Key{ID: id, Secret: secret}, nil
}
