package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/config"
)

func TestHostNamesOfAnAgent(t *testing.T) {
	for yaml, want := range map[string][]string{
		"host: 192.0.2.7\nauth: none": {"192.0.2.7"},
		"host: 0.0.0.0\nauth: none\npublic_url: https://agents.example.com:8443/shop\nallowed_hosts: [agent]": {"0.0.0.0", "agents.example.com", "agent"},
		"host: localhost\npublic_url: \"http://[fd00::7]\"":                                                   {"localhost", "fd00::7"},
	} {
		c, err := config.Parse("agent.yaml", []byte(yaml))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, c.Names()); diff != "" {
			t.Errorf("%s: %s", yaml, diff)
		}
	}
}
