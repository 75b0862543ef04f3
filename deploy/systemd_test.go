package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

var installed = regexp.MustCompile(`(?m)^ExecStart=/usr/local/bin/([a-z-]+)`)

// The units start binaries of the project, and systemd understands them, where it is there to
// ask.
func TestUnitsOfSystemd(t *testing.T) {
	units, err := filepath.Glob("systemd/*.service")
	if err != nil || len(units) == 0 {
		t.Fatalf("%v, %v", units, err)
	}
	binaries := map[string]bool{"agent": true, "worker": true, "gateway": true, "web": true, "mcp-resources": true, "mcp-filesystem": true, "mcp-commands": true, "mcp-sql": true, "mcp-web": true, "mcp-openapi": true, "mcp-prompt": true, "mcp-drive": true}
	dir := t.TempDir()
	for _, unit := range units {
		text, err := os.ReadFile(unit)
		if err != nil {
			t.Fatal(err)
		}
		m := installed.FindSubmatch(text)
		if m == nil || !binaries[string(m[1])] {
			t.Errorf("%s starts %q", unit, m)
			continue
		}
		copied := filepath.Join(dir, filepath.Base(unit))
		if err := os.WriteFile(copied, installed.ReplaceAll(text, []byte("ExecStart=/bin/true")), 0o600); err != nil {
			t.Fatal(err)
		}
		verify(t, copied)
	}
}

func verify(t *testing.T, unit string) {
	t.Helper()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		return
	}
	if out, err := exec.Command("systemd-analyze", "verify", "--man=no", unit).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%s: %v\n%s", unit, err, out)
	}
}
