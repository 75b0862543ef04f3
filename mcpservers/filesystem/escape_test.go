package filesystem_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const secret = "TOP SECRET"

// maliciousPaths are malicious paths, for a root full of bad links.
var maliciousPaths = []string{
	"..", "../", "../outside", "../outside/secret", "/../outside/secret", "//../outside/secret", "./../outside/secret", "dir/../../outside/secret",
	"dir/./.././../outside/secret", "dir/sub/../../../outside/secret", "out", "out/secret", "out/new", "file out", "dangling", "dangling out",
	"dangling out/below", "absolute", "absolute/secret", "chain1", "chain1/secret", "dir/up/outside/secret", "dir/up/outside/new", "loop", "loop/x",
	"/etc/passwd", "~/x", "..\\outside\\secret", "%2e%2e/outside/secret", "..%2foutside", "....//outside/secret", "\x00", "dir\x00/../../outside/secret",
	"OUT/secret", "Dir/../../outside/secret", strings.Repeat("../", 50) + "etc/passwd", strings.Repeat("a/", 2000) + "x", strings.Repeat("x", 300),
	strings.Repeat("dir/../", 500) + "../outside/secret", "fifo", "socket", "device", "fifo/x", "link to fifo",
}

func putBadLinks(t testing.TB, f fixture) {
	t.Helper()
	put(t, f.outside, map[string]string{"secret": secret, "folder/": ""})
	put(t, f.work, map[string]string{
		"dir/sub/": "", "dir/file": "inside", "out": "->../outside", "file out": "->../outside/secret", "dangling": "->none", "dangling out": "->../outside/created",
		"absolute": "->" + f.outside, "chain1": "->chain2", "chain2": "->dir/chain3", "dir/chain3": "->../../outside", "dir/up": "->../..", "loop": "->loop",
		"link to fifo": "->fifo",
	})
	must(t, syscall.Mkfifo(filepath.Join(f.work, "fifo"), 0o666))
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(f.work, "socket"), Net: "unix"})
	if err == nil {
		t.Cleanup(func() { listener.Close() })
	}
	_ = syscall.Mknod(filepath.Join(f.work, "device"), syscall.S_IFCHR|0o666, 1<<8|5) // /dev/zero; only permitted for the superuser
}

// checkOutside fails if anything outside the roots was changed.
func checkOutside(t testing.TB, f fixture) {
	t.Helper()
	if diff := cmp.Diff(map[string]string{"secret": secret, "folder": "/"}, tree(t, f.outside)); diff != "" {
		t.Error(diff)
	}
	entries, err := os.ReadDir(filepath.Dir(f.work))
	if err != nil || len(entries) != 4 {
		t.Errorf("beside the roots: %v, %v", entries, err)
	}
}

// attack calls every tool with a path and returns all results.
func (f fixture) attack(t testing.TB, path string) string {
	t.Helper()
	var answers strings.Builder
	for tool, rest := range pathTools {
		text, _ := f.call(t.Context(), t, tool, with(rest, args{"root": "work", "path": path}))
		answers.WriteString(text)
	}
	for _, mode := range []string{"append", "create_only"} {
		text, _ := f.call(t.Context(), t, "write_file", args{"root": "work", "path": path, "content": "x", "mode": mode})
		answers.WriteString(text)
	}
	for _, tool := range []string{"copy", "move"} {
		for _, arguments := range []args{pair("work", path, "work", "taken"), pair("work", path, "other", "taken"), pair("work", "dir/file", "work", path), pair("other", "bait", "work", path)} {
			text, _ := f.call(t.Context(), t, tool, arguments)
			answers.WriteString(text)
		}
	}
	return answers.String()
}

func TestNoPathLeavesTheRoot(t *testing.T) {
	for _, path := range maliciousPaths {
		t.Run(fmt.Sprintf("%.40q", path), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			putBadLinks(t, f)
			put(t, f.other, map[string]string{"bait": "bait"})
			start := time.Now()
			if answers := f.attack(t, path); strings.Contains(answers, secret) {
				t.Error(answers)
			}
			if took := time.Since(start); took > 2*time.Minute {
				t.Errorf("took %v", took)
			}
			checkOutside(t, f)
			for _, root := range []string{f.work, f.other} {
				for name, text := range tree(t, root) {
					if strings.Contains(text, secret) {
						t.Errorf("%s holds what was outside", name)
					}
				}
			}
		})
	}
}

func TestPathsOutsideTheRootHaveTheirOwnError(t *testing.T) {
	f := newFixture(t)
	putBadLinks(t, f)
	const outside = "path resolves outside root boundary"
	for _, path := range []string{"../x", "/../x", "dir/../../x", "out", "out/secret", "file out", "absolute/secret", "chain1/secret", "dir/up/outside/secret", "dangling out", "dir/up"} {
		for _, tool := range []string{"read_file", "write_file", "patch_file", "stat_file", "list_folder", "create_folder", "grep", "glob", "hash_file"} {
			f.wantError(t, tool, with(pathTools[tool], args{"root": "work", "path": path}), outside)
		}
		f.wantError(t, "copy", pair("work", path, "work", "taken"), outside)
		f.wantError(t, "copy", pair("work", "dir/file", "work", path), outside)
	}
	for _, path := range []string{"out/secret", "absolute/secret", "chain1/secret", "dir/up/x"} {
		f.wantError(t, "remove_file", args{"root": "work", "path": path}, outside)
		f.wantError(t, "remove_folder", args{"root": "work", "path": path}, outside)
		f.wantError(t, "move", pair("work", path, "work", "taken"), outside)
	}
	f.wantError(t, "read_file", args{"root": "work", "path": "loop"}, "too many levels of symbolic links: loop")
	checkOutside(t, f)
}

func TestSpecialFilesAreRefusedAtOnce(t *testing.T) {
	f := newFixture(t)
	putBadLinks(t, f)
	const special = "path is not a regular file (a FIFO, socket or device): "
	for _, path := range []string{"fifo", "socket", "device", "link to fifo"} {
		if _, err := os.Lstat(filepath.Join(f.work, path)); err != nil {
			continue
		}
		for _, tool := range []string{"read_file", "hash_file", "write_file", "patch_file", "grep"} {
			f.wantError(t, tool, with(pathTools[tool], args{"root": "work", "path": path}), special+path)
		}
		f.wantError(t, "write_file", args{"root": "work", "path": path, "content": "x", "mode": "append"}, special+path)
		f.wantError(t, "copy", pair("work", path, "work", "taken"), special+path)
		f.wantError(t, "copy", pair("work", "dir/file", "work", path), special+path)
	}
	if got := f.do(t, "grep", args{"root": "work", "pattern": "."}); strings.Count(got, "file") != 2 { // "file" and its name
		t.Errorf("got %s", got)
	}
}

// A folder of the root is repeatedly replaced by a link to the outside, while every tool uses
// its name.
func TestFoldersThatBecomeLinksDuringACall(t *testing.T) {
	f := newFixture(t)
	put(t, f.outside, map[string]string{"secret": secret, "folder/": ""})
	put(t, f.other, map[string]string{"bait": "bait"})
	put(t, f.work, map[string]string{"real/secret": "inside", "real/folder/": "", "link": "->../outside"})
	var stop atomic.Bool
	var group sync.WaitGroup
	group.Go(func() {
		at := func(name string) string { return filepath.Join(f.work, name) }
		for !stop.Load() {
			_ = os.Rename(at("real"), at("swap"))
			_ = os.Rename(at("swap"), at("real-kept"))
			_ = os.Rename(at("link"), at("swap"))
			_ = os.Rename(at("swap"), at("link"))
			_ = os.Rename(at("real-kept"), at("swap"))
			_ = os.Rename(at("swap"), at("real"))
		}
	})
	deadline := time.Now().Add(2 * time.Second)
	for time.Now().Before(deadline) {
		for tool, rest := range pathTools {
			for _, path := range []string{"swap/secret", "swap/folder", "swap/new", "swap"} {
				text, _ := f.call(t.Context(), t, tool, with(rest, args{"root": "work", "path": path}))
				if strings.Contains(text, secret) {
					t.Fatalf("%s: %s", tool, text)
				}
			}
		}
		for _, arguments := range []args{pair("work", "swap", "other", "copy"), pair("work", "swap/secret", "other", "file"), pair("other", "bait", "work", "swap/secret")} {
			_, _ = f.call(t.Context(), t, "copy", arguments)
		}
	}
	stop.Store(true)
	group.Wait()
	checkOutside(t, f)
	for name, text := range tree(t, f.other) {
		if strings.Contains(text, secret) {
			t.Errorf("%s holds what was outside", name)
		}
	}
}

func TestARootThatIsRenamedStaysTheSameFolder(t *testing.T) {
	f := newFixture(t)
	put(t, f.work, map[string]string{"a": "mine"})
	must(t, os.Rename(f.work, f.work+"-moved"))
	must(t, os.Symlink(f.outside, f.work))
	put(t, f.outside, map[string]string{"a": secret})
	if got := f.do(t, "read_file", args{"root": "work", "path": "a"}); !strings.Contains(got, "mine") {
		t.Errorf("got %s", got)
	}
}

func FuzzPaths(f *testing.F) {
	for _, path := range maliciousPaths {
		f.Add(path)
	}
	x := newFixture(f)
	putBadLinks(f, x)
	f.Fuzz(func(t *testing.T, path string) {
		for _, tool := range []string{"read_file", "list_folder", "stat_file", "grep", "glob", "hash_file", "create_folder", "write_file"} {
			text, _ := x.call(t.Context(), t, tool, with(pathTools[tool], args{"root": "work", "path": path}))
			if strings.Contains(text, secret) || strings.Contains(text, x.work) {
				t.Fatalf("%s: %s", tool, text)
			}
		}
		_, _ = x.call(t.Context(), t, "copy", pair("work", "dir/file", "work", path))
		_, _ = x.call(t.Context(), t, "move", pair("other", path, "work", path))
		_, _ = x.call(t.Context(), t, "remove_file", args{"root": "work", "path": path + "x"})
		checkOutside(t, x)
	})
}

func FuzzPatchFile(f *testing.F) {
	f.Add("a\nb\nc", "--- a\n+++ b\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n\\ No newline at end of file\n")
	f.Add("", "@@ -0,0 +1 @@\n+x")
	f.Add("a\n", "@@ -9,9 +1 @@\n-x")
	x := newFixture(f)
	path := filepath.Join(x.work, "file")
	f.Fuzz(func(t *testing.T, old, patch string) {
		must(t, os.WriteFile(path, []byte(old), 0o644))
		text, isError := x.call(t.Context(), t, "patch_file", args{"root": "work", "path": "file", "patch": patch})
		if isError && content(t, path) != old {
			t.Errorf("refused with %q, but the file was changed", text)
		}
		if names, err := os.ReadDir(x.work); err != nil || len(names) != 1 {
			t.Errorf("left over: %v %v", names, err)
		}
	})
}
