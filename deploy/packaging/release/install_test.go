package release_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	program = regexp.MustCompile(`(?m)^ExecStart=(\S+)`)
	setting = regexp.MustCompile(`--config (\S+?)(?:%i)?[\w.]*\.yaml`)
)

// Whatever make install copies starts, the units name what is there, and make uninstall removes all
// of it but the configuration.
func TestWhatIsInstalledStartsAndIsRemoved(t *testing.T) {
	needBuild(t)
	target := t.TempDir()
	place := []string{"BIN=" + t.TempDir(), "DESTDIR=" + target, "PREFIX=/opt/agent", "SYSCONFDIR=/opt/etc", "UNITDIR=/opt/units"}
	run(t, append([]string{"install"}, place...)...)
	for _, name := range binaries {
		starts(t, target+"/opt/agent/bin/"+name)
	}
	installed := files(t, target)
	for _, want := range []string{"/opt/agent/share/man/man1/agent.1", "/opt/etc/agent-stop-and-go/agent.yaml.example", "/opt/etc/agent-stop-and-go/web.yaml.example"} {
		if !slices.Contains(installed, want) {
			t.Errorf("there is no %s in %v", want, installed)
		}
	}
	checkUnits(t, target)

	own := target + "/opt/etc/agent-stop-and-go/agent.yaml"
	if err := os.WriteFile(own, []byte("name: mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, append([]string{"uninstall"}, place...)...)
	if left := files(t, target); len(left) != 1 || target+left[0] != own {
		t.Errorf("make uninstall leaves %v", left)
	}
}

// checkUnits requires that units start what is installed, with files from its configuration.
func checkUnits(t *testing.T, target string) {
	t.Helper()
	units, err := filepath.Glob(target + "/opt/units/*.service")
	if err != nil || len(units) < 7 {
		t.Fatalf("%v, %v", units, err)
	}
	for _, unit := range units {
		text := read(t, unit)
		m := program.FindStringSubmatch(text)
		if m == nil {
			t.Errorf("%s starts nothing", unit)
			continue
		}
		if _, err := os.Stat(target + m[1]); err != nil {
			t.Errorf("%s starts %s: %v", filepath.Base(unit), m[1], err)
		}
		for _, m := range setting.FindAllStringSubmatch(text, -1) {
			if !strings.HasPrefix(m[1], "/opt/etc/agent-stop-and-go/") {
				t.Errorf("%s reads %s", filepath.Base(unit), m[1])
			}
		}
	}
}
