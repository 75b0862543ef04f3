package deploy_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "agent-stop-and-go/"

// arrows says what the packages below each room may import of ours. A room is
// named by its path; the longest one that fits a package counts.
var arrows = map[string][]string{
	"workflows/contract": {"workflows/contract"},
	"workflows/decide":   {"workflows/contract"},
	"workflows":          {"workflows/contract", "workflows/decide"},
	"activities":         {"workflows/contract", "activities"},
	"config":             {"workflows/contract", "config"},
	"worker":             {"workflows", "activities", "config", "worker"},
	"worker/cmd":         {"workflows", "activities", "config", "worker", "gateway/front"},
	"gateway":            {"workflows/contract", "gateway", "mcpservers/hosting/guard"},
	"gateway/front":      {"workflows/contract", "gateway", "config"},
	"gateway/cmd":        {"workflows/contract", "gateway", "config"},
	"mcpservers":         {"mcpservers"},
	"deploy":             {},
	"deploy/conformance": {"activities", "workflows/contract"},
}

// foreign says which modules of others a room must not import, itself.
var foreign = map[string][]string{
	"workflows/contract": {"."}, // the standard library only
	"workflows/decide":   {"."},
	"workflows":          {"github.com/openai/", "github.com/mark3labs/", "github.com/labstack/"},
	"gateway":            {"github.com/openai/", "github.com/mark3labs/"},
	"activities/llm":     {"go.temporal.io/"},
	"activities/toolbox": {"go.temporal.io/"},
	"mcpservers":         {"go.temporal.io/"},
}

type pkg struct {
	ImportPath string
	Imports    []string
	Standard   bool
}

func TestImportsFollowTheArrows(t *testing.T) {
	packages := list(t)
	if len(packages) < 8 {
		t.Fatalf("go list found %d packages; expected the whole module", len(packages))
	}
	for _, p := range packages {
		own := strings.TrimPrefix(p.ImportPath, module)
		room, ok := roomOf(own, keys(arrows))
		if !ok {
			t.Errorf("%s is in no room: name it in arrows", own)
			continue
		}
		for _, imported := range p.Imports {
			if rest, ours := strings.CutPrefix(imported, module); ours && !allowed(rest, arrows[room]) {
				t.Errorf("%s imports %s; %s may import %v of ours", own, rest, room, arrows[room])
			}
		}
		if room, ok := roomOf(own, keys(foreign)); ok {
			checkForeign(t, own, p.Imports, foreign[room])
		}
	}
}

// checkForeign reports imports of forbidden modules. "." stands for all of them:
// their paths begin with a host name.
func checkForeign(t *testing.T, own string, imports, forbidden []string) {
	t.Helper()
	for _, imported := range imports {
		host, _, _ := strings.Cut(imported, "/")
		for _, f := range forbidden {
			if f == "." && strings.Contains(host, ".") || f != "." && strings.HasPrefix(imported, f) {
				t.Errorf("%s imports %s", own, imported)
			}
		}
	}
}

func TestNoRoomIsCalledUtil(t *testing.T) {
	for _, p := range list(t) {
		for _, part := range strings.Split(p.ImportPath, "/") {
			if slices.Contains([]string{"internal", "pkg", "util", "utils", "common", "helpers"}, part) {
				t.Errorf("%s: name a package after what it provides, not %q", p.ImportPath, part)
			}
		}
	}
}

func allowed(imported string, rooms []string) bool {
	return slices.ContainsFunc(rooms, func(r string) bool {
		return imported == r || strings.HasPrefix(imported, r+"/")
	})
}

func roomOf(own string, rooms []string) (string, bool) {
	for dir := own; dir != "."; dir = path.Dir(dir) {
		if slices.Contains(rooms, dir) {
			return dir, true
		}
	}
	return "", false
}

func keys(m map[string][]string) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	return out
}

func list(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,Standard", "./...")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var packages []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		switch err := dec.Decode(&p); {
		case errors.Is(err, io.EOF):
			return packages
		case err != nil:
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}
