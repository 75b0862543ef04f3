package config_test

import (
	"strings"
	"testing"

	"agent-stop-and-go/config"
)

func TestTheSigningKeyComesFromTheEnvironment(t *testing.T) {
	key := strings.Repeat("k", 32)
	c := parse(t, "push: {signing_key: '${KEY}'}\n")
	if got, err := c.Push.Key(env("KEY", key)); err != nil || string(got) != key {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := (config.Push{}).Key(env()); err != nil || got != nil {
		t.Errorf("without: %q, %v", got, err)
	}
}

func TestAnUnusableSigningKeyIsNamed(t *testing.T) {
	for value, want := range map[string]string{
		"":      "push: signing_key: not set in the environment: [KEY]",
		"short": "push: signing_key: ${KEY} has 5 bytes, expected at least 32",
	} {
		got, err := config.Push{SigningKey: "${KEY}"}.Key(env("KEY", value))
		if err == nil || err.Error() != want || got != nil {
			t.Errorf("%q: %q, %v", value, got, err)
		}
	}
}
