package filesystem_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"agent-stop-and-go/mcpservers/filesystem"

	"github.com/google/go-cmp/cmp"
)

func TestWriteFile(t *testing.T) {
	f := newFixture(t)
	put(t, f.work, map[string]string{"old": "old content", "dir/": "", "link": "->dir/target", "dir/target": "old"})
	for _, test := range []struct {
		args       args
		want, file string
		content    string
	}{
		{args{"path": "new", "content": "hello"}, `{"mode":"overwrite","path":"new","size":5}`, "new", "hello"},
		{args{"path": "empty", "content": ""}, `{"mode":"overwrite","path":"empty","size":0}`, "empty", ""},
		{args{"path": "old", "content": "é"}, `{"mode":"overwrite","path":"old","size":2}`, "old", "é"},
		{args{"path": "old", "content": "+", "mode": "append"}, `{"mode":"append","path":"old","size":1}`, "old", "é+"},
		{args{"path": "appended", "content": "x", "mode": "append"}, `{"mode":"append","path":"appended","size":1}`, "appended", "x"},
		{args{"path": "old", "content": "", "mode": "overwrite"}, `{"mode":"overwrite","path":"old","size":0}`, "old", ""},
		{args{"path": "/a/b/c", "content": "deep", "mode": "create_only"}, `{"mode":"create_only","path":"/a/b/c","size":4}`, "a/b/c", "deep"},
		{args{"path": "link", "content": "through"}, `{"mode":"overwrite","path":"link","size":7}`, "dir/target", "through"},
		{args{"path": "link", "content": "!", "mode": "append"}, `{"mode":"append","path":"link","size":1}`, "dir/target", "through!"},
		{args{"path": strings.Repeat("n", 255), "content": "x"}, `{"mode":"overwrite","path":"` + strings.Repeat("n", 255) + `","size":1}`, strings.Repeat("n", 255), "x"},
	} {
		test.args["root"] = "work"
		if diff := cmp.Diff(test.want, f.do(t, "write_file", test.args)); diff != "" {
			t.Errorf("%v: %s", test.args, diff)
		}
		if got := content(t, filepath.Join(f.work, test.file)); got != test.content {
			t.Errorf("%v: %s holds %q", test.args, test.file, got)
		}
	}
	if target, err := os.Readlink(filepath.Join(f.work, "link")); err != nil || target != "dir/target" {
		t.Errorf("the link became %q, %v", target, err)
	}
	for name, want := range map[string]os.FileMode{"new": 0o644, "a": 0o755 | os.ModeDir, "a/b": 0o755 | os.ModeDir, "a/b/c": 0o644} {
		if info, err := os.Stat(filepath.Join(f.work, name)); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

func TestWriteFileRefuses(t *testing.T) {
	f := newFixture(t, func(c *filesystem.Config) { c.MaxWriteSize = 20 })
	put(t, f.work, map[string]string{"old": "old", "dir/": ""})
	before := tree(t, f.work)
	for _, test := range []struct {
		args args
		want string
	}{
		{args{"path": "new"}, "content is required"},
		{args{"path": "new", "content": nil}, "content is required"},
		{args{"path": "new", "content": 5}, "content must be a string"},
		{args{"path": "new", "content": "x", "mode": "replace"}, "invalid write mode: replace; valid modes: overwrite, append, create_only"},
		{args{"path": "old", "content": "x", "mode": "create_only"}, "file already exists: old; use overwrite mode to replace"},
		{args{"path": "dir", "content": "x", "mode": "create_only"}, "path is a directory, not a file: dir"},
		{args{"path": "dir", "content": "x"}, "path is a directory, not a file: dir"},
		{args{"path": "dir", "content": "x", "mode": "append"}, "path is a directory, not a file: dir"},
		{args{"path": ".", "content": "x"}, "path is a directory, not a file: ."},
		{args{"path": "old/below", "content": "x"}, "path is not a directory: old/below"},
		{args{"path": "old/below", "content": "x", "mode": "append"}, "path is not a directory: old/below"},
		{args{"path": "old/below", "content": "x", "mode": "create_only"}, "path is not a directory: old/below"},
		{args{"path": "old", "content": strings.Repeat("x", 21)}, "content too large (size: 21B, limit: 20B)"},
		{args{"path": strings.Repeat("n", 256), "content": "x"}, "file name too long: " + strings.Repeat("n", 256)},
	} {
		test.args["root"] = "work"
		f.wantError(t, "write_file", test.args, test.want)
	}
	if diff := cmp.Diff(before, tree(t, f.work)); diff != "" {
		t.Error(diff)
	}
}

func TestReplacingKeepsModeAndOwner(t *testing.T) {
	f := newFixture(t)
	put(t, f.work, map[string]string{"script": "a\n", "other": "b\n"})
	path := filepath.Join(f.work, "script")
	must(t, os.Chmod(path, 0o751))
	owned := os.Getuid() != 0 || os.Chown(path, 1234, 1234) == nil
	f.do(t, "write_file", args{"root": "work", "path": "script", "content": "c\n"})
	f.do(t, "patch_file", args{"root": "work", "path": "script", "patch": "@@ -1 +1 @@\n-c\n+d\n"})
	f.do(t, "copy", args{"source_root": "work", "source_path": "other", "dest_root": "work", "dest_path": "script"})
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o751 || content(t, path) != "b\n" {
		t.Errorf("%v %v %q", info.Mode(), err, content(t, path))
	}
	if owner := info.Sys().(*syscall.Stat_t).Uid; os.Getuid() == 0 && owned && owner != 1234 {
		t.Errorf("owned by %d", owner)
	}
}

func TestReadersSeeTheOldOrTheNewContent(t *testing.T) {
	f := newFixture(t)
	path := filepath.Join(f.work, "file")
	texts := map[string]bool{strings.Repeat("a", 100_000): true, strings.Repeat("b", 100_000): true}
	put(t, f.work, map[string]string{"file": strings.Repeat("a", 100_000)})
	var group sync.WaitGroup
	for text := range texts {
		group.Go(func() {
			for range 20 {
				f.do(t, "write_file", args{"root": "work", "path": "file", "content": text})
			}
		})
	}
	for range 200 {
		if got := content(t, path); !texts[got] {
			t.Errorf("read %d bytes that nobody wrote", len(got))
		}
	}
	group.Wait()
	if got := tree(t, f.work); len(got) != 1 {
		t.Errorf("left over: %d files", len(got))
	}
}

func TestParallelWritesToOneFileLoseNothing(t *testing.T) {
	f := newFixture(t)
	put(t, f.work, map[string]string{"patched": "end\n", "appended": ""})
	var group sync.WaitGroup
	var mu sync.Mutex
	created := 0
	for i := range 40 {
		group.Go(func() {
			f.do(t, "patch_file", args{"root": "work", "path": "patched", "patch": fmt.Sprintf("@@ -1 +1,2 @@\n+line %d\n end\n", i)})
		})
		group.Go(func() {
			f.do(t, "write_file", args{"root": "work", "path": "appended", "mode": "append", "content": fmt.Sprintf("line %d\n", i)})
		})
		group.Go(func() {
			text, isError := f.call(t.Context(), t, "write_file", args{"root": "work", "path": "once", "mode": "create_only", "content": "x"})
			if mu.Lock(); !isError {
				created++
			} else if !strings.Contains(text, "already exists") {
				t.Error(text)
			}
			mu.Unlock()
		})
	}
	group.Wait()
	for _, name := range []string{"patched", "appended"} {
		text := content(t, filepath.Join(f.work, name))
		for i := range 40 {
			if !strings.Contains(text, fmt.Sprintf("line %d\n", i)) {
				t.Errorf("%s: line %d is lost", name, i)
			}
		}
	}
	if created != 1 {
		t.Errorf("created %d times", created)
	}
}

func TestPatchFile(t *testing.T) {
	f := newFixture(t)
	put(t, f.work, map[string]string{"ten": lines(1, 10), "no end": "a\nb", "dir/": "", "link": "->ten"})
	for _, test := range []struct {
		path, patch, want, file, content string
	}{
		{"ten", "--- a/ten\n+++ b/ten\n@@ -2,2 +2,2 @@\n-line 2\n+LINE 2\n line 3\n", `{"hunks_applied":1,"path":"ten"}`,
			"ten", strings.Replace(lines(1, 10), "line 2", "LINE 2", 1)},
		{"/link", "@@ -2,1 +2,1 @@\n-LINE 2\n+line 2\n@@ -10 +10,2 @@\n line 10\n+line 11\n\n", `{"hunks_applied":2,"path":"/link"}`,
			"ten", lines(1, 11)},
		{"ten", "@@ -1,2 +1,2 @@\n line 7\n-line 8\n+LINE 8\n", `{"adjusted":[{"hunk":1,"line":7,"offset":6}],"hunks_applied":1,"path":"ten"}`,
			"ten", strings.Replace(lines(1, 11), "line 8", "LINE 8", 1)},
		{"no end", "@@ -1,2 +1,2 @@\n-a\n+A\n b\n", `{"hunks_applied":1,"path":"no end"}`, "no end", "A\nb"},
		{"made/new", "--- /dev/null\n+++ b/new\n@@ -0,0 +1,2 @@\n+a\n+b\n", `{"hunks_applied":1,"path":"made/new"}`, "made/new", "a\nb\n"},
		{"made/new", "@@ -1,2 +0,0 @@\n-a\n-b\n", `{"hunks_applied":1,"path":"made/new"}`, "made/new", ""},
	} {
		if diff := cmp.Diff(test.want, f.do(t, "patch_file", args{"root": "work", "path": test.path, "patch": test.patch})); diff != "" {
			t.Errorf("%s: %s", test.patch, diff)
		}
		if diff := cmp.Diff(test.content, content(t, filepath.Join(f.work, test.file))); diff != "" {
			t.Errorf("%s: %s", test.patch, diff)
		}
	}
	before := tree(t, f.work)
	for _, test := range []struct{ path, patch, want string }{
		{"ten", "@@ -1 +1 @@\n-other\n+x\n", `patch failed: hunk 1 does not match at line 1 (expected "other", got "line 1")`},
		{"ten", "@@ -1 +1 @@\n-line 1\n+x\n@@ -99,2 +99 @@\n-nowhere\n-n\n+x\n", `patch failed: hunk 2 does not match at line 99 (expected "nowhere", got end of file)`},
		{"none", "@@ -3 +3 @@\n-a\n+b\n", `patch failed: hunk 1 does not match at line 3 (expected "a", got end of file)`},
		{"ten", "no diff at all", "parse patch: no hunks found in patch"},
		{"ten", "", "patch is required"},
		{"dir", "@@ -0,0 +1 @@\n+a\n", "path is a directory, not a file: dir"},
	} {
		f.wantError(t, "patch_file", args{"root": "work", "path": test.path, "patch": test.patch}, test.want)
	}
	if diff := cmp.Diff(before, tree(t, f.work)); diff != "" {
		t.Error(diff)
	}
}

func TestPatchingIsLimitedInSize(t *testing.T) {
	f := newFixture(t, func(c *filesystem.Config) { c.MaxWriteSize = 40 })
	put(t, f.work, map[string]string{"big": strings.Repeat("x\n", 21), "small": strings.Repeat("x\n", 15)})
	f.wantError(t, "patch_file", args{"root": "work", "path": "big", "patch": "@@ -1 +1 @@\n-x\n+y\n"}, "file too large (size: 42B, limit: 40B)")
	f.wantError(t, "patch_file", args{"root": "work", "path": "small", "patch": "@@ -1 +1 @@\n+yyyyyyyyyyyyyyy\n x\n"}, "patched file too large (size: 46B, limit: 40B)")
	f.wantError(t, "patch_file", args{"root": "work", "path": "small", "patch": strings.Repeat("@", 41)}, "patch too large (size: 41B, limit: 40B)")
}
