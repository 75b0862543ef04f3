package resources_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/resources"

	"github.com/google/go-cmp/cmp"
)

func writeConfig(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "r.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestConfigFillsDefaults(t *testing.T) {
	config := func(host string, port int, db string) resources.Config {
		settings := hosting.DefaultSettings(port)
		settings.Host = host
		return resources.Config{Settings: settings, DBPath: db}
	}
	for text, want := range map[string]resources.Config{
		"":              config("127.0.0.1", 8090, "./data/resources.db"),
		"# nothing\n":   config("127.0.0.1", 8090, "./data/resources.db"),
		"port: 9\n":     config("127.0.0.1", 9, "./data/resources.db"),
		"db_path: /x":   config("127.0.0.1", 8090, "/x"),
		"host: 0.0.0.0": config("0.0.0.0", 8090, "./data/resources.db"),
	} {
		got, err := resources.LoadConfig(writeConfig(t, text))
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestConfigMistakesNameTheLine(t *testing.T) {
	for text, want := range map[string][]string{
		"host: a\nprot: 1\ndb: x\n": {`line 2: unknown key "prot", allowed: host, port, db_path`, `line 3: unknown key "db"`},
		"port: many\n":              {"line 1", "many"},
		"port: 70000\nhost: ''\n":   {"port 70000 is out of range", "host is empty"},
		"db_path: ''":               {"db_path is empty"},
		"host: [\n":                 {"line"},
		"port: 1\nport: 2\n":        {"line 2", "port"},
		"transport: carrier-pigeon": {"use http, sse or stdio"},
		"session_idle: 5ms\n":       {"session_idle 5ms is too short"},
		"session_idle: 5\n":         {"line 1", "a time such as 30m or 1h"},
		"allowed_hosts: ['a:1']":    {`"a:1" is not a host name`},
		"allowed_origins: [a.com]":  {`"a.com" is not an origin`},
	} {
		_, err := resources.LoadConfig(writeConfig(t, text))
		for _, part := range append(want, "r.yaml") {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%q: got %v, want %q in it", text, err, part)
			}
		}
	}
}

func TestMissingConfigFileIsNamed(t *testing.T) {
	if _, err := resources.LoadConfig("/nowhere/r.yaml"); err == nil || !strings.Contains(err.Error(), "/nowhere/r.yaml") {
		t.Errorf("got %v", err)
	}
}
