package filesystem_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCreateFolder(t *testing.T) {
	f := newFixture(t)
	put(t, f.work, map[string]string{"file": "x", "dir/kept": "x", "link": "->dir"})
	for _, path := range []string{"new", "/a/b/c", "dir", "link", "link/below", ".", "new/"} {
		want := `{"created":true,"path":"` + path + `"}`
		if got := f.do(t, "create_folder", args{"root": "work", "path": path}); got != want {
			t.Errorf("got %s", got)
		}
	}
	want := map[string]string{"file": "x", "dir": "/", "dir/kept": "x", "dir/below": "/", "link": "->dir", "new": "/", "a": "/", "a/b": "/", "a/b/c": "/"}
	if diff := cmp.Diff(want, tree(t, f.work)); diff != "" {
		t.Error(diff)
	}
	if info, err := os.Stat(filepath.Join(f.work, "a/b")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	f.wantError(t, "create_folder", args{"root": "work", "path": "file"}, "path exists as a file: file")
	f.wantError(t, "create_folder", args{"root": "work", "path": "file/below"}, "path exists as a file: file/below")
}

func TestRemove(t *testing.T) {
	f := newFixture(t)
	put(t, f.outside, map[string]string{"secret": "s", "kept/": ""})
	put(t, f.work, map[string]string{
		"file": "x", "dir/a/b": "x", "dir/out": "->" + f.outside, "target": "kept", "to file": "->target", "to folder": "->full", "full/x": "x",
		"to nothing": "->none", "to outside": "->../outside/secret", "parent": "->full",
	})
	must(t, syscall.Mkfifo(filepath.Join(f.work, "fifo"), 0o600))
	for _, test := range []struct{ tool, path, want string }{
		{"remove_folder", "file", "path is a file, use remove_file instead: file"},
		{"remove_folder", "to folder", "path is a symbolic link, use remove_file instead: to folder"},
		{"remove_folder", "none", "directory not found: none"},
		{"remove_folder", ".", "cannot remove root directory"},
		{"remove_folder", "/", "cannot remove root directory"},
		{"remove_folder", "dir/..", "cannot remove root directory"},
		{"remove_file", "none", "file not found: none"},
		{"remove_file", "dir", "path is a directory, use remove_folder instead: dir"},
		{"remove_file", ".", "path is a directory, use remove_folder instead: ."},
	} {
		f.wantError(t, test.tool, args{"root": "work", "path": test.path}, test.want)
	}
	for _, path := range []string{"file", "to file", "to folder", "to nothing", "to outside", "fifo", "parent/x"} {
		want := `{"path":"` + path + `","removed":true}`
		if got := f.do(t, "remove_file", args{"root": "work", "path": path}); got != want {
			t.Errorf("got %s", got)
		}
	}
	f.do(t, "remove_folder", args{"root": "work", "path": "/dir"})
	if diff := cmp.Diff(map[string]string{"target": "kept", "full": "/", "parent": "->full"}, tree(t, f.work)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"secret": "s", "kept": "/"}, tree(t, f.outside)); diff != "" {
		t.Error(diff)
	}
}

func pair(sourceRoot, source, destRoot, dest string) args {
	return args{"source_root": sourceRoot, "source_path": source, "dest_root": destRoot, "dest_path": dest}
}

func TestCopy(t *testing.T) {
	f := newFixture(t)
	put(t, f.outside, map[string]string{"secret": "s"})
	put(t, f.work, map[string]string{
		"a": "hello", "script": "#!", "link": "->a", "dir/x": "x", "dir/sub/y": "y", "dir/near": "->x", "dir/up": "->../a",
		"dir/out": "->" + f.outside, "dir/out2": "->../../outside/secret", "old": "a longer old content",
	})
	must(t, os.Chmod(filepath.Join(f.work, "script"), 0o755))
	must(t, os.Chmod(filepath.Join(f.work, "dir/sub"), 0o500))
	t.Cleanup(func() { // otherwise only the superuser can remove them
		for _, sub := range []string{filepath.Join(f.work, "dir/sub"), filepath.Join(f.other, "joined/sub"), filepath.Join(f.other, "deep/er/sub")} {
			must(t, os.Chmod(sub, 0o700))
		}
	})
	must(t, syscall.Mkfifo(filepath.Join(f.work, "dir/fifo"), 0o600))
	put(t, f.other, map[string]string{"joined/x": "old", "joined/z": "z", "file": "f"})
	for _, test := range []struct {
		args args
		want string
	}{
		{pair("work", "a", "work", "b"), `{"destination":"b","is_directory":false,"size":5,"source":"a"}`},
		{pair("work", "/a", "work", "old"), `{"destination":"old","is_directory":false,"size":5,"source":"/a"}`},
		{pair("work", "a", "work", "a"), `{"destination":"a","is_directory":false,"size":5,"source":"a"}`},
		{pair("work", "link", "other", "new/c"), `{"destination":"new/c","is_directory":false,"size":5,"source":"link"}`},
		{pair("work", "script", "other", "script"), `{"destination":"script","is_directory":false,"size":2,"source":"script"}`},
		{pair("work", "dir", "other", "joined"), `{"destination":"joined","is_directory":true,"skipped":["fifo","out","out2"],"source":"dir"}`},
		{pair("work", "dir", "other", "deep/er"), `{"destination":"deep/er","is_directory":true,"skipped":["fifo","out","out2"],"source":"dir"}`},
	} {
		if diff := cmp.Diff(test.want, f.do(t, "copy", test.args)); diff != "" {
			t.Errorf("%v: %s", test.args, diff)
		}
	}
	want := map[string]string{
		"new": "/", "new/c": "hello", "script": "#!", "file": "f",
		"joined": "/", "joined/x": "x", "joined/z": "z", "joined/sub": "/", "joined/sub/y": "y", "joined/near": "->x", "joined/up": "->../a",
		"deep": "/", "deep/er": "/", "deep/er/x": "x", "deep/er/sub": "/", "deep/er/sub/y": "y", "deep/er/near": "->x", "deep/er/up": "->../a",
	}
	if diff := cmp.Diff(want, tree(t, f.other)); diff != "" {
		t.Error(diff)
	}
	for name, mode := range map[string]os.FileMode{"script": 0o755, "deep/er/sub": 0o500, "deep/er": 0o755} {
		if info, err := os.Stat(filepath.Join(f.other, name)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
	}
	if got := content(t, filepath.Join(f.work, "a")) + content(t, filepath.Join(f.work, "old")); got != "hellohello" {
		t.Errorf("got %s", got)
	}
}

func TestCopyRefuses(t *testing.T) {
	f := newFixture(t)
	put(t, f.work, map[string]string{"a": "hello", "dir/x": "x"})
	before := tree(t, f.work)
	for _, test := range []struct {
		args args
		want string
	}{
		{pair("work", "none", "work", "b"), "source file not found: none"},
		{pair("work", "dir", "work", "dir/below"), "cannot copy a directory into itself: dir/below"},
		{pair("work", ".", "work", "below"), "cannot copy a directory into itself: below"},
		{pair("work", "a", "work", "dir"), "path is a directory, not a file: dir"},
		{pair("work", "dir", "work", "a"), "path is not a directory: a"},
		{pair("work", "a", "work", "a/b"), "path is not a directory: a/b"},
	} {
		f.wantError(t, "copy", test.args, test.want)
	}
	if diff := cmp.Diff(before, tree(t, f.work)); diff != "" {
		t.Error(diff)
	}
}

func TestCopiesHaveTheSameChecksum(t *testing.T) {
	f := newFixture(t)
	data := make([]byte, 3<<20)
	for i := range data {
		data[i] = byte(i * i / 7)
	}
	must(t, os.WriteFile(filepath.Join(f.work, "data"), data, 0o644))
	f.do(t, "copy", pair("work", "data", "other", "data"))
	sums := map[string]bool{}
	for _, root := range []string{"work", "other"} {
		sums[f.do(t, "hash_file", args{"root": root, "path": "data", "algorithm": "sha256"})] = true
	}
	if len(sums) != 1 {
		t.Errorf("got %v", sums)
	}
}

func TestMove(t *testing.T) {
	f := newFixture(t)
	put(t, f.work, map[string]string{
		"a": "a", "b": "b", "link": "->target", "target": "t", "dir/x": "x", "dir/near": "->x", "cross/y": "y", "cross/near": "->y", "lone": "->target", "c": "c",
	})
	put(t, f.other, map[string]string{"old": "old", "full/x": "x"})
	must(t, os.Chmod(filepath.Join(f.work, "c"), 0o600))
	for _, test := range [][2]string{
		{"work:a", "work:new/a"}, {"work:new/a", "work:b"}, {"work:link", "work:renamed"}, {"work:dir", "work:moved/dir"},
		{"work:b", "other:old"}, {"work:cross", "other:cross"}, {"work:c", "other:deep/c"}, {"work:target", "work:target"},
	} {
		source, dest := test[0], test[1]
		from, to := split(source), split(dest)
		want := `{"destination":"` + to[1] + `","source":"` + from[1] + `"}`
		if got := f.do(t, "move", pair(from[0], from[1], to[0], to[1])); got != want {
			t.Errorf("%s to %s: %s", source, dest, got)
		}
	}
	want := map[string]string{"new": "/", "renamed": "->target", "target": "t", "moved": "/", "moved/dir": "/", "moved/dir/x": "x", "moved/dir/near": "->x", "lone": "->target"}
	if diff := cmp.Diff(want, tree(t, f.work)); diff != "" {
		t.Error(diff)
	}
	want = map[string]string{"old": "a", "full": "/", "full/x": "x", "cross": "/", "cross/y": "y", "cross/near": "->y", "deep": "/", "deep/c": "c"}
	if diff := cmp.Diff(want, tree(t, f.other)); diff != "" {
		t.Error(diff)
	}
	if info, err := os.Stat(filepath.Join(f.other, "deep/c")); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

func split(at string) [2]string {
	for i := range at {
		if at[i] == ':' {
			return [2]string{at[:i], at[i+1:]}
		}
	}
	return [2]string{}
}

func TestMoveRefuses(t *testing.T) {
	f := newFixture(t)
	put(t, f.work, map[string]string{"a": "a", "dir/x": "x", "full/y": "y", "holds/out": "->" + f.outside, "out": "->" + f.outside})
	put(t, f.other, map[string]string{"full/x": "x"})
	before, beforeOther := tree(t, f.work), tree(t, f.other)
	for _, test := range []struct {
		args args
		want string
	}{
		{pair("work", ".", "other", "new"), "cannot move root directory"},
		{pair("work", "/", "work", "new"), "cannot move root directory"},
		{pair("work", "dir/..", "other", "new"), "cannot move root directory"},
		{pair("work", "a", "other", "."), "cannot move root directory"},
		{pair("work", "none", "work", "b"), "source file not found: none"},
		{pair("work", "dir", "work", "dir/below"), "cannot move a directory into itself: dir/below"},
		{pair("work", "dir", "work", "full"), "destination exists as a directory: full"},
		{pair("work", "dir", "other", "full"), "destination exists as a directory: full"},
		{pair("work", "a", "work", "full"), "destination exists as a directory: full"},
		{pair("work", "a", "other", "full"), "destination exists as a directory: full"},
		{pair("work", "dir", "work", "a"), "path is not a directory: a"},
		{pair("work", "a", "work", "a/b"), "path is not a directory: a/b"},
		{pair("work", "holds", "other", "holds"), "cannot move to another root: holds has links or special files that have to stay, such as out"},
		{pair("work", "out", "other", "out"), "cannot move to another root: out has links or special files that have to stay, such as ."},
	} {
		f.wantError(t, "move", test.args, test.want)
	}
	if diff := cmp.Diff(before, tree(t, f.work)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(beforeOther, tree(t, f.other)); diff != "" {
		t.Error(diff)
	}
}
