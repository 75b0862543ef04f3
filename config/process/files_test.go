package process_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agent-stop-and-go/config/process"
)

func TestVariablesMayBeInFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("from a file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	set := map[string]string{
		"KEY_FILE": file, "OWN": "itself", "OWN_FILE": file, "MISSING_FILE": file + ".missing", "EMPTY_FILE": "",
	}
	var stderr bytes.Buffer
	getenv := process.WithFiles(func(name string) string { return set[name] }, &stderr)
	for name, want := range map[string]string{"KEY": "from a file", "OWN": "itself", "MISSING": "", "EMPTY": "", "NEITHER": ""} {
		for range 2 {
			if got := getenv(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
	}
	if text := stderr.String(); strings.Count(text, "MISSING_FILE: open ") != 1 || strings.Count(text, "\n") != 1 {
		t.Errorf("printed:\n%s", text)
	}
}
