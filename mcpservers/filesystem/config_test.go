package filesystem_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agent-stop-and-go/mcpservers/filesystem"

	"github.com/google/go-cmp/cmp"
)

func load(t *testing.T, text string) (filesystem.Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f.yaml")
	must(t, os.WriteFile(path, []byte(text), 0o600))
	return filesystem.LoadConfig(path)
}

func TestConfigFillsDefaults(t *testing.T) {
	dir := t.TempDir()
	got, err := load(t, "port: 9\nmax_full_read_size: 5\nroots:\n  - {name: a, path: "+dir+", allowed_tools: [read_file]}\n  - {name: b, path: "+dir+", allowed_tools: ['*']}\n  - {name: c, path: "+dir+"}\n")
	must(t, err)
	want := filesystem.DefaultConfig()
	want.Port, want.MaxFullReadSize = 9, 5
	want.Roots = []filesystem.RootConfig{
		{Name: "a", Path: dir, AllowedTools: []string{"read_file"}}, {Name: "b", Path: dir, AllowedTools: []string{"*"}}, {Name: "c", Path: dir},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if want.Host != "127.0.0.1" || filesystem.DefaultConfig().MaxFullReadSize != 1048576 {
		t.Errorf("got %+v", want)
	}
}

// The example file must load in the project's folder, and the values of its commented lines
// must be the defaults.
func TestTheShippedFileLoads(t *testing.T) {
	text, err := os.ReadFile("../../config/mcp-filesystem.yaml")
	must(t, err)
	t.Chdir(t.TempDir())
	for _, folder := range []string{"config/examples", "data/files"} {
		must(t, os.MkdirAll(folder, 0o755))
	}
	want := filesystem.DefaultConfig()
	want.Roots = []filesystem.RootConfig{
		{Name: "examples", Path: "./config/examples", AllowedTools: []string{"list_folder", "stat_file", "read_file", "hash_file", "permissions_file", "grep", "glob"}},
		{Name: "files", Path: "./data/files", AllowedTools: []string{"*"}},
	}
	for _, text := range []string{string(text), strings.ReplaceAll(string(text), "\n# max_", "\nmax_")} {
		got, err := load(t, text)
		must(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestConfigMistakesAreAllNamed(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must(t, os.WriteFile(file, nil, 0o600))
	for text, want := range map[string][]string{
		"":            {"no roots configured"},
		"roots: []\n": {"no roots configured"},
		"roots: [{path: " + dir + "}, {name: n}]\n":                                     {"roots[0]: name is required", `roots[1] "n": path is required`},
		"roots: [{name: n, path: " + dir + "}, {name: n, path: " + dir + "}]\n":         {"duplicate root name: n"},
		"roots: [{name: n, path: " + dir + "/none}, {name: m, path: " + file + "}]\n":   {`roots[0] "n": path does not exist: ` + dir + "/none", `roots[1] "m": path is not a directory: ` + file},
		"roots: [{name: n, path: " + dir + ", allowed_tools: [x, list_roots, copy]}]\n": {`roots[0] "n": unknown tool "x" in allowed_tools`, `roots[0] "n": unknown tool "list_roots" in allowed_tools`},
		"max_results: 0\nport: 70000\ntransport: pigeon\nroots: []\n":                   {"max_results is 0: it must be at least 1", "port 70000 is out of range", `transport "pigeon" is unknown`, "no roots configured"},
		"root: x\nroots:\n  - nam: n\n":                                                 {`line 1: unknown key "root", allowed: host, port,`, `line 3: unknown key "nam", allowed: name, path, allowed_tools`},
		"max_line_size: 8191\nmax_copy_size: 0\n":                                       {"max_line_size is 8191: it must be at least 8192", "max_copy_size is 0: it must be at least 1"},
		"port: many\n": {"line 1", "many"},
		"roots: [\n":   {"line"},
	} {
		_, err := load(t, text)
		for _, part := range append(want, "f.yaml") {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%q: got %v, want %q in it", text, err, part)
			}
		}
	}
	if _, err := filesystem.LoadConfig("/nowhere/f.yaml"); err == nil || !strings.Contains(err.Error(), "/nowhere/f.yaml") {
		t.Errorf("got %v", err)
	}
}

func TestNewChecksItsConfiguration(t *testing.T) {
	if _, err := filesystem.New(filesystem.DefaultConfig(), slog.New(slog.DiscardHandler)); err == nil || err.Error() != "no roots configured" {
		t.Errorf("got %v", err)
	}
}

func TestARootWithoutToolsAllowsNothing(t *testing.T) {
	f := newFixture(t, func(c *filesystem.Config) { c.Roots[2].AllowedTools = nil })
	if got := f.do(t, "list_roots", nil); !strings.HasPrefix(got, `[{"allowed_tools":[],"name":"docs"}`) {
		t.Errorf("got %s", got)
	}
	for tool, rest := range pathTools {
		f.wantError(t, tool, with(rest, args{"root": "docs", "path": "."}), "tool "+tool+" not allowed on root docs")
	}
}
