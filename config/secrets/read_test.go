package secrets_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agent-stop-and-go/config/secrets"
)

func TestASecretIsReadFromTheEnvironmentOrAFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return "file:" + path
	}
	getenv := func(name string) string { return map[string]string{"SET": " canary "}[name] }
	for setting, want := range map[string]string{
		"${SET}":                  "canary",
		write("key", "canary\n"):  "canary",
		"${UNSET}":                "error: ${UNSET} is not set in the environment",
		"canary":                  "error: expected ${NAME} or file:PATH",
		"x${SET}":                 "error: expected ${NAME} or file:PATH",
		write("empty", "\n"):      "error: " + dir + "/empty is empty",
		"file:" + dir + "/nobody": "error: stat " + dir + "/nobody: no such file or directory",
		write("large", strings.Repeat("canary", 20_000)): "error: " + dir + "/large has 120000 bytes; expected at most 65536",
	} {
		got, err := secrets.Read(setting, getenv)
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != want {
			t.Errorf("%s: got %q, expected %q", setting, got, want)
		}
	}
}
