package encryption

import (
	"fmt"
	"regexp"
	"strings"

	"agent-stop-and-go/config/keyring"
	"agent-stop-and-go/config/secrets"
	"agent-stop-and-go/workflows/credential"
)

// Settings are the keys and who may see clear text in the Web UI.
type Settings struct {
	Keys  []string `yaml:"keys" jsonschema_description:"Keys that encrypt what the Temporal server and the blob store keep of conversations, each as ${NAME} or file:PATH, whose text is ID:BASE64 with 32 bytes; agent encryption new-key makes one. The first key encrypts, all of them decrypt. Every worker, gateway and command needs them. Without the key nothing is encrypted."`
	WebUI []string `yaml:"web_ui" jsonschema_description:"Origins of Temporal Web UIs that may ask /codec/decode of this agent for clear text, for people with the scope read:all, each scheme://host or scheme://host:port, such as https://temporal.example.com. The Web UI of agent itself need not be listed."`
}

var (
	reference = regexp.MustCompile(`^file:.|^\$\{[A-Za-z_][A-Za-z0-9_]*\}$`)
	webOrigin = regexp.MustCompile(`^https?://[A-Za-z0-9.\[\]:-]+$`)
)

// Check reports what is wrong with the settings, by their keys. It never shows what is written
// instead of a reference.
func (s Settings) Check(report func(key, problem string)) {
	for i, k := range s.Keys {
		if !reference.MatchString(k) {
			report(fmt.Sprintf("keys[%d]", i), "secrets do not belong in this file; write ${AGENT_ENCRYPTION_KEY} and set it in the agent's environment, or file:PATH")
		}
	}
	for i, origin := range s.WebUI {
		if !webOrigin.MatchString(origin) {
			report(fmt.Sprintf("web_ui[%d]", i), "must be scheme://host or scheme://host:port, such as https://temporal.example.com")
		}
	}
}

// Open returns the codec with the keys, or nil if there are none. No error contains a key.
func (s Settings) Open(getenv func(string) string) (*Codec, error) {
	var keys []credential.Key
	for i, setting := range s.Keys {
		text, err := secrets.Read(setting, getenv)
		if err != nil {
			return nil, fmt.Errorf("encryption.keys[%d]: %w", i, err)
		}
		read, err := keyring.Parse(strings.TrimPrefix(setting, "file:"), text)
		if err != nil {
			return nil, fmt.Errorf("encryption.keys[%d]: %w", i, err)
		}
		keys = append(keys, read...)
	}
	if len(keys) == 0 {
		return nil, nil
	}
	codec, err := New(keys...)
	if err != nil {
		return nil, fmt.Errorf("encryption.keys: %w", err)
	}
	return codec, nil
}
