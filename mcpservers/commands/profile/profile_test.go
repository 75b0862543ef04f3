package profile_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agent-stop-and-go/mcpservers/commands/profile"
)

const tool = "name: t\nshort: s\nflags:\n  - {name: a, type: string, required: true}\n  - {name: b, type: int}\n  - {name: c, type: bool}\nlayers:\n  - {slug: db, name: DB, flags: [{name: host, type: string, required: true}, {name: port, type: int, default: 1}]}\nshell-script: \"true\"\nhints: {read-only: true}\n"

// load reads a file with profiles beside a tool and collects the default profile.
func load(t *testing.T, sources string) (profile.Set, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "t.yaml"), []byte(tool), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "profiles.yaml")
	text := "version: \"1\"\ndefaultProfile: p\nprofiles:\n  p:\n    description: d\n    tools:\n" + strings.ReplaceAll(sources, "DIR", dir)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	config, err := profile.Load(path)
	if err != nil {
		return profile.Set{}, err
	}
	p, err := config.Profile("")
	if err != nil {
		return profile.Set{}, err
	}
	return profile.Collect(p.Sources())
}

func TestSourcesChangeWhatCallersSee(t *testing.T) {
	for sources, want := range map[string]string{
		"      files: [{path: DIR/t.yaml}]\n":                                                                                         "a b c host port",
		"      directories: [{path: DIR}]\n":                                                                                          "a b c host port",
		"      files: [{path: DIR/t.yaml, overrides: {default: {a: x}}}]\n":                                                           "b c host port",
		"      files: [{path: DIR/t.yaml, blacklist: {default: [b], db: [port]}}]\n":                                                  "a c host",
		"      files: [{path: DIR/t.yaml, whitelist: {default: [a], db: [host]}}]\n":                                                  "a host",
		"      files: [{path: DIR/t.yaml, whitelist: {db: [host]}}]\n":                                                                "a b c host",
		"      directories: [{path: DIR, blacklist: {default: [b]}}]\n      files: [{path: DIR/t.yaml, blacklist: {default: [c]}}]\n": "a host port",
		"      files: [{path: DIR/t.yaml, defaults: {db: {host: h}}, blacklist: {db: [host]}}]\n":                                     "a b c port",
	} {
		set, err := load(t, sources)
		if err != nil || len(set.Files) != 1 || len(set.Warnings) > 0 {
			t.Errorf("%s%+v %v", sources, set.Warnings, err)
			continue
		}
		if got := strings.Join(set.Files[0].Tool.Parameters.Offered(), " "); got != want {
			t.Errorf("%sgot %s, want %s", sources, got, want)
		}
	}
}

func TestOverridesAreWhatRuns(t *testing.T) {
	set, err := load(t, "      files: [{path: DIR/t.yaml, overrides: {default: {a: fixed}, db: {host: h}}}]\n")
	if err != nil {
		t.Fatal(err)
	}
	values, err := set.Files[0].Tool.Parameters.Values(nil)
	if err != nil || values["a"].Texts[0] != "fixed" || values["host"].Texts[0] != "h" || values["port"].Texts[0] != "1" {
		t.Errorf("%+v %v", values, err)
	}
	if _, err := set.Files[0].Tool.Parameters.Values(map[string]json.RawMessage{"a": json.RawMessage(`"other"`)}); err == nil || !strings.Contains(err.Error(), `unknown argument "a"`) {
		t.Errorf("a caller replaced a fixed value: %v", err)
	}
}

func TestMistakesInProfilesAreErrorsOrWarnings(t *testing.T) {
	for sources, want := range map[string]string{
		"      files: [{path: DIR/t.yaml, overrides: {default: {b: text}}}]\n": "overrides: b: it must be a whole number",
		"      files: [{path: DIR/t.yaml, blacklist: {default: [a]}}]\n":       "the argument a is required, callers do not see it",
		"      files: [{path: DIR/missing.yaml}]\n":                            "no such file",
		"      files: [{path: DIR/t.yaml, white: {}}]\n":                       "unknown key \"white\"",
		"      files: [{}]\n":                                 "a source has no path",
		"      external_commands: [a]\n":                      "external_commands is not supported",
		"      files: [{path: DIR/t.yaml}]\n  q: {tool: 1}\n": "unknown key \"tool\"",
	} {
		if _, err := load(t, sources); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s%v, want %s", sources, err, want)
		}
	}
	set, err := load(t, "      files: [{path: DIR/t.yaml, defaults: {default: {timeout: 30s}}, blacklist: {db: [a]}}]\n")
	if err != nil || len(set.Warnings) != 2 || !strings.Contains(set.Warnings[1], "no argument timeout in the layer default") {
		t.Errorf("%q %v", set.Warnings, err)
	}
	if _, err := (profile.Config{Profiles: map[string]profile.Profile{"p": {}}}).Profile("q"); err == nil || !strings.Contains(err.Error(), "profile q not found: there are p") {
		t.Error(err)
	}
}
