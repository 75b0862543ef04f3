package images_test

import (
	"debug/elf"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
)

var replay = flag.String("replay", "", "carry out these stages of the Dockerfile in a folder: source,build,build-stores,build-sql,build-drive,build-agent (minutes)")

// builder carries out the steps of build stages in a folder instead of a container: /src and
// /out are folders below it. Mounts are left out, so the caches are those of this machine.
type builder struct {
	t    *testing.T
	dir  string
	work string // the working directory, in the container
	env  []string
}

func TestTheBuildStagesBuildTheBinaries(t *testing.T) {
	if *replay == "" {
		t.Skip("needs -replay")
	}
	all := stages(t)
	b := &builder{t: t, dir: t.TempDir(), work: "/"}
	for _, name := range strings.Split(*replay, ",") {
		for _, c := range stage(t, all, name).Commands {
			b.step(c)
		}
	}
	built, err := filepath.Glob(b.path("/out/*"))
	if err != nil || len(built) < 2 { // besides data
		t.Fatalf("%v, %v", built, err)
	}
	for _, file := range built {
		if filepath.Base(file) == "data" {
			continue
		}
		if out, err := exec.Command(file, "--version").CombinedOutput(); err != nil || len(out) == 0 {
			t.Errorf("%s: %s, %v", file, out, err)
		}
		if isDynamic(t, file) {
			t.Errorf("%s needs shared libraries", file)
		}
	}
}

// isDynamic reports whether a binary needs shared libraries.
func isDynamic(t *testing.T, file string) bool {
	t.Helper()
	f, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	libraries, err := f.ImportedLibraries()
	if err != nil {
		t.Fatal(err)
	}
	return len(libraries) > 0
}

// path is where a path of the container is.
func (b *builder) path(inside string) string {
	if !filepath.IsAbs(inside) {
		inside = filepath.Join(b.work, inside)
	}
	return filepath.Join(b.dir, inside)
}

func (b *builder) step(c instructions.Command) {
	b.t.Helper()
	switch c := c.(type) {
	case *instructions.WorkdirCommand:
		b.work = c.Path
	case *instructions.EnvCommand:
		for _, pair := range c.Env {
			b.env = append(b.env, pair.Key+"="+os.Expand(pair.Value, b.value))
		}
	case *instructions.ArgCommand:
		for _, arg := range c.Args {
			if arg.Value != nil {
				b.env = append(b.env, arg.Key+"="+*arg.Value)
			}
		}
	case *instructions.CopyCommand:
		for _, source := range c.SourcePaths {
			b.copy(source, c.DestPath)
		}
	case *instructions.RunCommand:
		b.run(strings.Join(c.CmdLine, " "))
	default:
		b.t.Fatalf("a build stage has a %s", c.Name())
	}
}

// value is the value of a variable of the build.
func (b *builder) value(name string) string {
	for _, pair := range slices.Backward(b.env) {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value
		}
	}
	return ""
}

// copy copies what git knows of a source, as the .dockerignore leaves out the rest.
func (b *builder) copy(source, target string) {
	b.t.Helper()
	list := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard", source)
	list.Dir = root
	names, err := list.Output()
	if err != nil {
		b.t.Fatal(err)
	}
	for name := range strings.Lines(string(names)) {
		name = strings.TrimSpace(name)
		data, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // deleted, and not committed yet
		}
		if err != nil {
			b.t.Fatal(err)
		}
		file := b.path(filepath.Join(target, name))
		if source == name {
			file = b.path(filepath.Join(target, filepath.Base(name)))
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			b.t.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			b.t.Fatal(err)
		}
	}
}

func (b *builder) run(script string) {
	b.t.Helper()
	cmd := exec.Command("/bin/sh", "-c", strings.ReplaceAll(script, "/out", b.path("/out")))
	cmd.Dir = b.path(b.work)
	cmd.Env = append(append(os.Environ(), b.env...), "GOFLAGS=-mod=readonly")
	b.t.Logf("RUN %s", script)
	if out, err := cmd.CombinedOutput(); err != nil {
		b.t.Fatalf("%v\n%s", err, out)
	}
}
