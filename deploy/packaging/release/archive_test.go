package release_test

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// The archive of this platform has the sum that SHA256SUMS names, and the same bytes when it is
// packed again. Its binaries start, and each has the list of its parts.
func TestTheArchiveOfThisPlatform(t *testing.T) {
	needBuild(t)
	dist, platform := t.TempDir(), runtime.GOOS+"/"+runtime.GOARCH
	run(t, "release", "PLATFORMS="+platform, "DIST="+dist)
	name := "agent-stop-and-go-" + version + "-" + strings.ReplaceAll(platform, "/", "-")
	archive := filepath.Join(dist, "release", name+".tar.gz")
	sum := sumOf(t, archive)
	if sums := read(t, filepath.Join(dist, "release", "SHA256SUMS")); sums != sum+"  "+name+".tar.gz\n" {
		t.Errorf("the sum is %s, and SHA256SUMS has\n%s", sum, sums)
	}
	pack := exec.Command("deploy/release.sh", version, platform)
	pack.Dir, pack.Env = root, append(os.Environ(), "DIST="+dist)
	if out, err := pack.CombinedOutput(); err != nil {
		t.Fatalf("pack again: %v\n%s", err, out)
	}
	if again := sumOf(t, archive); again != sum {
		t.Errorf("packed again, the archive has the sum %s instead of %s", again, sum)
	}

	folder := t.TempDir()
	if out, err := exec.Command("tar", "-xzf", archive, "-C", folder).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	folder = filepath.Join(folder, name)
	for _, binary := range binaries {
		starts(t, filepath.Join(folder, binary))
		checkParts(t, filepath.Join(folder, binary), filepath.Join(folder, "sbom", binary+".cdx.json"))
	}
	for _, file := range []string{"agent.yaml", "web.yaml", "agent.schema.json", "README.md", "CHANGELOG.md"} {
		if read(t, filepath.Join(folder, file)) == "" {
			t.Errorf("%s is empty", file)
		}
	}
}

func sumOf(t *testing.T, file string) string {
	t.Helper()
	sum := sha256.Sum256([]byte(read(t, file)))
	return hex.EncodeToString(sum[:])
}

// checkParts compares a list of parts (CycloneDX) with the modules that the compiler has noted in
// the binary.
func checkParts(t *testing.T, binary, list string) {
	t.Helper()
	var parts struct {
		BomFormat  string `json:"bomFormat"`
		Components []struct{ Name, Version string }
	}
	if err := json.Unmarshal([]byte(read(t, list)), &parts); err != nil || parts.BomFormat != "CycloneDX" {
		t.Fatalf("%s: %v, format %q", list, err, parts.BomFormat)
	}
	listed := map[string]string{}
	for _, c := range parts.Components {
		listed[c.Name] = c.Version
	}
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	if len(info.Deps) < 5 {
		t.Errorf("%s has only %d modules", binary, len(info.Deps))
	}
	for _, module := range info.Deps {
		if strings.HasPrefix(module.Path, "agent-stop-and-go") {
			continue // of this commit, without a version
		}
		if got, ok := listed[module.Path]; !ok || got != module.Version {
			t.Errorf("%s contains %s %s, and its list has %q", filepath.Base(binary), module.Path, module.Version, got)
		}
	}
}
