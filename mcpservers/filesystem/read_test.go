package filesystem_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/mcpservers/filesystem"

	"github.com/google/go-cmp/cmp"
)

func lines(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

func TestReadFile(t *testing.T) {
	f := newFixture(t)
	put(t, f.work, map[string]string{
		"a.txt": "hello <world>", "empty": "", "five": lines(1, 5), "hundred": lines(1, 100), "no end": "a\n\nb", "dir/": "",
		"binary": "\x00\x01a", "image": "\x00\xff\xfe", "latin": "caf\xe9", "link": "->dir2/../a.txt", "dir2/": "", "crlf": "a\r\nb\r\n",
	})
	for _, test := range []struct {
		args args
		want string
	}{
		{args{"path": "a.txt"}, `{"content":"hello <world>","size":13,"truncated":false}`},
		{args{"path": "/a.txt"}, `{"content":"hello <world>","size":13,"truncated":false}`},
		{args{"path": "dir/../a.txt"}, `{"content":"hello <world>","size":13,"truncated":false}`},
		{args{"path": "link"}, `{"content":"hello <world>","size":13,"truncated":false}`},
		{args{"path": "empty"}, `{"content":"","size":0,"truncated":false}`},
		{args{"path": "crlf"}, `{"content":"a\r\nb\r\n","size":6,"truncated":false}`},
		{args{"path": "a.txt", "offset_bytes": 2, "limit_bytes": 3}, `{"content":"llo","size":13,"truncated":false}`},
		{args{"path": "a.txt", "limit_bytes": 5}, `{"content":"hello","size":13,"truncated":false}`},
		{args{"path": "a.txt", "offset_bytes": 6}, `{"content":"<world>","size":13,"truncated":false}`},
		{args{"path": "a.txt", "offset_bytes": 10, "limit_bytes": 100}, `{"content":"ld>","size":13,"truncated":true}`},
		{args{"path": "a.txt", "offset_bytes": 99}, `{"content":"","size":13,"truncated":false}`},
		{args{"path": "a.txt", "offset_bytes": 99, "limit_bytes": 1}, `{"content":"","size":13,"truncated":true}`},
		{args{"path": "a.txt", "limit_bytes": 1 << 52}, `{"content":"hello <world>","size":13,"truncated":true}`},
		{args{"path": "a.txt", "offset_bytes": 0, "limit_bytes": 0, "limit_lines": nil}, `{"content":"hello <world>","size":13,"truncated":false}`},
		{args{"path": "hundred", "offset_lines": 50, "limit_lines": 5}, `{"content":"line 50\nline 51\nline 52\nline 53\nline 54","lines_total":100,"size":792,"truncated":true}`},
		{args{"path": "five", "offset_lines": 0, "limit_lines": 2}, `{"content":"line 1\nline 2","lines_total":5,"size":35,"truncated":true}`},
		{args{"path": "five", "offset_lines": 4}, `{"content":"line 4\nline 5","lines_total":5,"size":35,"truncated":false}`},
		{args{"path": "five", "offset_lines": 4, "limit_lines": 2}, `{"content":"line 4\nline 5","lines_total":5,"size":35,"truncated":false}`},
		{args{"path": "five", "offset_lines": 10}, `{"content":"","lines_total":5,"size":35,"truncated":false}`},
		{args{"path": "five", "offset_lines": 1 << 52, "limit_lines": 1 << 52}, `{"content":"","lines_total":5,"size":35,"truncated":false}`},
		{args{"path": "no end", "limit_lines": 9}, `{"content":"a\n\nb","lines_total":3,"size":4,"truncated":false}`},
		{args{"path": "no end", "limit_lines": 2}, `{"content":"a\n","lines_total":3,"size":4,"truncated":true}`},
		{args{"path": "empty", "limit_lines": 2}, `{"content":"","lines_total":0,"size":0,"truncated":false}`},
		{args{"path": "binary"}, `{"binary":true,"content":"\u0000\u0001a","size":3,"truncated":false}`},
		{args{"path": "image"}, `{"binary":true,"content":"AP/+","encoding":"base64","size":3,"truncated":false}`},
		{args{"path": "latin"}, `{"content":"caf` + "\uFFFD" + `","invalid_utf8":true,"size":4,"truncated":false}`},
	} {
		test.args["root"] = "work"
		if diff := cmp.Diff(test.want, f.do(t, "read_file", test.args)); diff != "" {
			t.Errorf("%v: %s", test.args, diff)
		}
	}
}

func TestReadFileRefuses(t *testing.T) {
	f := newFixture(t)
	put(t, f.work, map[string]string{"a.txt": "a", "big": strings.Repeat("x", 2<<20), "dir/": ""})
	for _, test := range []struct {
		args args
		want string
	}{
		{args{"path": "none"}, "file not found: none"},
		{args{"path": "a.txt/b"}, "file not found: a.txt/b"},
		{args{"path": "dir"}, "path is a directory, not a file: dir"},
		{args{"path": "/"}, "path is a directory, not a file: /"},
		{args{"path": "big"}, "file too large for full read (size: 2.0MB, limit: 1.0MB); use offset/limit parameters"},
		{args{"path": "a.txt", "offset_bytes": 0, "offset_lines": 1}, "byte-based and line-based parameters are mutually exclusive"},
		{args{"path": "a.txt", "limit_bytes": 5, "limit_lines": 5}, "byte-based and line-based parameters are mutually exclusive"},
		{args{"path": "a.txt", "offset_bytes": -1}, "offset_bytes must not be negative"},
		{args{"path": "a.txt", "limit_lines": 1.5}, "limit_lines must be an integer"},
		{args{"path": 7}, "path must be a string"},
		{args{"path": "a.txt", "ofset_lines": 1}, `unknown argument "ofset_lines", allowed: limit_bytes, limit_lines, offset_bytes, offset_lines, path, root`},
		{args{"path": strings.Repeat("x", 300)}, "file name too long: " + strings.Repeat("x", 300)},
	} {
		test.args["root"] = "work"
		f.wantError(t, "read_file", test.args, test.want)
	}
}

func TestPartsOfALargeFileEndAtTheConfiguredSize(t *testing.T) {
	f := newFixture(t, func(c *filesystem.Config) { c.MaxReadSize = 10 })
	put(t, f.work, map[string]string{"big": strings.Repeat("x", 100), "lines": lines(1, 5)})
	for _, test := range []struct {
		args args
		want string
	}{
		{args{"path": "big", "limit_bytes": 50}, `{"content":"xxxxxxxxxx","size":100,"truncated":true}`},
		{args{"path": "big", "offset_bytes": 3}, `{"content":"xxxxxxxxxx","size":100,"truncated":true}`},
		{args{"path": "big", "offset_bytes": 90}, `{"content":"xxxxxxxxxx","size":100,"truncated":false}`},
		{args{"path": "lines", "limit_lines": 3}, `{"content":"line 1\nlin","lines_total":5,"size":35,"truncated":true}`},
	} {
		test.args["root"] = "work"
		if diff := cmp.Diff(test.want, f.do(t, "read_file", test.args)); diff != "" {
			t.Errorf("%v: %s", test.args, diff)
		}
	}
}

func TestListFolder(t *testing.T) {
	f := newFixture(t)
	put(t, f.outside, map[string]string{"secret": "s"})
	put(t, f.work, map[string]string{
		"d/b.txt": "bb", "d/sub/": "", "d/to file": "->b.txt", "d/to folder": "->sub", "d/to nothing": "->none",
		"d/out": "->../../outside/secret", "d/absolute": "->" + f.outside, "d/home": "->" + f.work, "empty/": "", "link": "->d",
	})
	when := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	must(t, os.Chtimes(filepath.Join(f.work, "d/b.txt"), when, when))
	text := f.do(t, "list_folder", args{"root": "work", "path": "d"})
	if !strings.Contains(text, `{"modified_at":"2024-05-06T07:08:09Z","name":"b.txt","size":2,"type":"file"}`) || !strings.HasPrefix(text, `{"count":8,"entries":[`) {
		t.Errorf("got %s", text)
	}
	type listing struct {
		Count   int
		Entries []struct {
			Name, Type string
			Target     string `json:"target_type"`
		}
	}
	for _, path := range []string{"d", "/d/", "link", "./d/sub/.."} {
		got := map[string]string{}
		for _, e := range result[listing](t, f, "list_folder", args{"root": "work", "path": path}).Entries {
			got[e.Name] = strings.TrimSuffix(e.Type+" "+e.Target, " ")
		}
		want := map[string]string{
			"b.txt": "file", "sub": "directory", "to file": "symlink file", "to folder": "symlink directory", "to nothing": "symlink",
			"out": "symlink external", "absolute": "symlink external", "home": "symlink directory",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
	if got := f.do(t, "list_folder", args{"root": "work", "path": "empty"}); got != `{"count":0,"entries":[]}` {
		t.Errorf("got %s", got)
	}
	f.wantError(t, "list_folder", args{"root": "work", "path": "none"}, "path not found: none")
	f.wantError(t, "list_folder", args{"root": "work", "path": "d/b.txt"}, "path is not a directory: d/b.txt")
}

func TestListFolderReportsTruncation(t *testing.T) {
	f := newFixture(t, func(c *filesystem.Config) { c.MaxResults = 2 })
	put(t, f.work, map[string]string{"a": "", "b": "", "c": ""})
	got := f.do(t, "list_folder", args{"root": "work", "path": "."})
	if !strings.HasPrefix(got, `{"count":2,`) || !strings.HasSuffix(got, `],"truncated":true}`) {
		t.Errorf("got %s", got)
	}
}

func TestStatHashAndPermissions(t *testing.T) {
	f := newFixture(t)
	put(t, f.work, map[string]string{"a.txt": "hello", "dir/": "", "link": "->a.txt", "empty": ""})
	when := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	for _, name := range []string{"a.txt", "dir"} {
		must(t, os.Chtimes(filepath.Join(f.work, name), when, when))
	}
	must(t, os.Chmod(filepath.Join(f.work, "dir"), 0o750))
	for _, test := range []struct {
		tool string
		args args
		want string // a regular expression
	}{
		{"stat_file", args{"path": "a.txt"}, `{"is_directory":false,"is_symlink":false,"modified_at":"2024-05-06T07:08:09Z","name":"a.txt","path":"a.txt","size":5}`},
		{"stat_file", args{"path": "/link"}, `{"is_directory":false,"is_symlink":false,"modified_at":"2024-05-06T07:08:09Z","name":"a.txt","path":"/link","size":5}`},
		{"stat_file", args{"path": "dir"}, `{"is_directory":true,"is_symlink":false,"modified_at":"2024-05-06T07:08:09Z","name":"dir","path":"dir","size":\d+}`},
		{"stat_file", args{"path": "."}, `{"is_directory":true,.*"name":".","path":".","size":\d+}`},
		{"hash_file", args{"path": "a.txt", "algorithm": "md5"}, `{"algorithm":"md5","hash":"5d41402abc4b2a76b9719d911017c592","path":"a.txt","size":5}`},
		{"hash_file", args{"path": "a.txt", "algorithm": "sha1"}, `{"algorithm":"sha1","hash":"aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d","path":"a.txt","size":5}`},
		{"hash_file", args{"path": "link", "algorithm": "sha256"}, `{"algorithm":"sha256","hash":"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824","path":"link","size":5}`},
		{"hash_file", args{"path": "empty", "algorithm": "md5"}, `{"algorithm":"md5","hash":"d41d8cd98f00b204e9800998ecf8427e","path":"empty","size":0}`},
		{"permissions_file", args{"path": "a.txt"}, `{"group":"[^"]+","mode":"0644","mode_string":"-rw-r--r--","owner":"[^"]+","path":"a.txt"}`},
		{"permissions_file", args{"path": "dir"}, `{"group":"[^"]+","mode":"0750","mode_string":"drwxr-x---","owner":"[^"]+","path":"dir"}`},
	} {
		test.args["root"] = "work"
		if got := f.do(t, test.tool, test.args); !regexp.MustCompile("^" + test.want + "$").MatchString(got) {
			t.Errorf("%s %v: got %s", test.tool, test.args, got)
		}
	}
	for _, test := range []struct {
		tool, path, algorithm, want string
	}{
		{"stat_file", "none", "", "not found: none"},
		{"permissions_file", "none", "", "not found: none"},
		{"hash_file", "none", "md5", "file not found: none"},
		{"hash_file", "dir", "md5", "cannot hash a directory: dir"},
		{"hash_file", "a.txt", "MD5", "unsupported hash algorithm: MD5; supported: md5, sha1, sha256"},
		{"hash_file", "a.txt", "", "algorithm is required"},
	} {
		arguments := args{"root": "work", "path": test.path}
		if test.tool == "hash_file" {
			arguments["algorithm"] = test.algorithm
		}
		f.wantError(t, test.tool, arguments, test.want)
	}
}
