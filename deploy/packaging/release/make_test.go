package release_test

import (
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const (
	root    = "../../.."
	version = "v0.0.0-test"
)

var build = flag.Bool("build", false, "compile all binaries, as make install and make release do (minutes)")

var binaries = []string{"agent", "worker", "gateway", "web", "mcp-resources", "mcp-filesystem", "mcp-commands", "mcp-sql", "mcp-web", "mcp-openapi", "mcp-prompt", "mcp-drive"}

// run runs make with targets and variables. VERSION is that of the test.
func run(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.Command("make", append(args, "VERSION="+version)...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func needBuild(t *testing.T) {
	t.Helper()
	if !*build {
		t.Skip("needs -build")
	}
}

// starts requires that a binary says the version that it was built with.
func starts(t *testing.T, file string) {
	t.Helper()
	if out, err := exec.Command(file, "--version").CombinedOutput(); err != nil || !strings.Contains(string(out), version) {
		t.Errorf("%s --version: %v, %q", file, err, out)
	}
}

// files are the files below a folder, as paths from it.
func files(t *testing.T, folder string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			out = append(out, strings.TrimPrefix(path, folder))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
