package filesystem_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/mcpservers/filesystem"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"
)

func searchRoot(t testing.TB, f fixture) {
	t.Helper()
	put(t, f.outside, map[string]string{"secret": "needle outside\n"})
	put(t, f.work, map[string]string{
		"a.txt": "one\nneedle two\nthree\nNeedle four\nfive", "b.go": "package b\n// needle\n", "bin": "needle\x00needle\n", "crlf": "x\r\nneedle y\r\n",
		"new/c.txt": "needle c\n", "new/deep/d.txt": "needle d\n", "new/deep/er/e.txt": "needle e\n", "empty/": "",
		"fold":     "\u212Aelvin\nMA\u017FSE\nplain\n",
		"links/in": "->../a.txt", "links/out": "->../../outside/secret", "links/folder": "->../new", "links/none": "->none",
	})
}

func TestGrep(t *testing.T) {
	f := newFixture(t)
	searchRoot(t, f)
	for _, test := range []struct {
		args args
		want string
	}{
		{args{"pattern": "needle", "path": "a.txt"}, `{"matches":[{"file":".","line_content":"needle two","line_number":2}],"timed_out":false,"total_matches":1,"truncated":false}`},
		{args{"pattern": "needle", "path": "new"}, `{"matches":[{"file":"c.txt","line_content":"needle c","line_number":1},{"file":"deep/d.txt","line_content":"needle d","line_number":1},{"file":"deep/er/e.txt","line_content":"needle e","line_number":1}],"timed_out":false,"total_matches":3,"truncated":false}`},
		{args{"pattern": "^needle .$", "path": "crlf"}, `{"matches":[{"file":".","line_content":"needle y","line_number":2}],"timed_out":false,"total_matches":1,"truncated":false}`},
		{args{"pattern": "needle", "path": "links"}, `{"matches":[{"file":"in","line_content":"needle two","line_number":2}],"timed_out":false,"total_matches":1,"truncated":false}`},
		{args{"pattern": "no such text"}, `{"matches":[],"timed_out":false,"total_matches":0,"truncated":false}`},
		{args{"pattern": "needle", "path": "bin"}, `{"matches":[],"timed_out":false,"total_matches":0,"truncated":false}`},
		{args{"pattern": "needle", "glob_filter": "*.go"}, `{"matches":[{"file":"b.go","line_content":"// needle","line_number":2}],"timed_out":false,"total_matches":1,"truncated":false}`},
		{args{"pattern": "needle", "glob_filter": "[invalid"}, `{"matches":[],"timed_out":false,"total_matches":0,"truncated":false}`},
		{args{"pattern": "three", "path": "a.txt", "context_lines": 1}, `{"matches":[{"context_after":["Needle four"],"context_before":["needle two"],"file":".","line_content":"three","line_number":3}],"timed_out":false,"total_matches":1,"truncated":false}`},
		{args{"pattern": "one|five", "path": "a.txt", "context_lines": 3}, `{"matches":[{"context_after":["needle two","three","Needle four"],"file":".","line_content":"one","line_number":1},{"context_before":["needle two","three","Needle four"],"file":".","line_content":"five","line_number":5}],"timed_out":false,"total_matches":2,"truncated":false}`},
		{args{"pattern": "NEEDLE", "path": "a.txt", "case_insensitive": true}, `{"matches":[{"file":".","line_content":"needle two","line_number":2},{"file":".","line_content":"Needle four","line_number":4}],"timed_out":false,"total_matches":2,"truncated":false}`},
		{args{"pattern": "needle", "path": "new", "max_results": 1, "context_lines": 1}, `{"matches":[{"file":"c.txt","line_content":"needle c","line_number":1}],"timed_out":false,"total_matches":1,"truncated":true}`},
		{args{"pattern": "needle", "path": "a.txt", "max_results": 1, "context_lines": 1}, `{"matches":[{"context_after":["three"],"context_before":["one"],"file":".","line_content":"needle two","line_number":2}],"timed_out":false,"total_matches":1,"truncated":true}`},
		{args{"pattern": "needle", "path": "new", "max_results": 3}, `{"matches":[{"file":"c.txt","line_content":"needle c","line_number":1},{"file":"deep/d.txt","line_content":"needle d","line_number":1},{"file":"deep/er/e.txt","line_content":"needle e","line_number":1}],"timed_out":false,"total_matches":3,"truncated":true}`},
		{args{"pattern": "kelvin|masse", "path": "fold", "case_insensitive": true}, `{"matches":[{"file":".","line_content":"Kelvin","line_number":1},{"file":".","line_content":"MAſSE","line_number":2}],"timed_out":false,"total_matches":2,"truncated":false}`},
		{args{"pattern": "kelvin", "path": "fold", "case_insensitive": true}, `{"matches":[{"file":".","line_content":"Kelvin","line_number":1}],"timed_out":false,"total_matches":1,"truncated":false}`},
		{args{"pattern": "^$", "path": "empty"}, `{"matches":[],"timed_out":false,"total_matches":0,"truncated":false}`},
	} {
		test.args["root"] = "work"
		if diff := cmp.Diff(test.want, f.do(t, "grep", test.args)); diff != "" {
			t.Errorf("%v: %s", test.args, diff)
		}
	}
	f.wantError(t, "grep", args{"root": "work"}, "pattern is required")
	f.wantError(t, "grep", args{"root": "work", "pattern": "("}, "invalid pattern: error parsing regexp: missing closing ): `(`")
	f.wantError(t, "grep", args{"root": "work", "pattern": "x", "path": "none"}, "path not found: none")
	f.wantError(t, "grep", args{"root": "work", "pattern": "x", "case_insensitive": "yes"}, "case_insensitive must be true or false")
	f.wantError(t, "grep", args{"root": "work", "pattern": "x", "max_results": -1}, "max_results must not be negative")
}

func TestDepthCountsFoldersInTheRelativePath(t *testing.T) {
	f := newFixture(t)
	put(t, f.work, map[string]string{"a.txt": "x", "l1/b.txt": "x", "l1/l2/c.txt": "x", "l1/l2/l3/d.txt": "x"})
	type found struct {
		Total int `json:"total_matches"`
	}
	for depth, want := range map[any]int{0: 2, 1: 3, 2: 4, 9: 4, nil: 4} {
		if got := result[found](t, f, "grep", args{"root": "work", "pattern": "x", "max_depth": depth}); got.Total != want {
			t.Errorf("grep %v: %d", depth, got.Total)
		}
		if got := result[found](t, f, "glob", args{"root": "work", "pattern": "*.txt", "max_depth": depth}); got.Total != want {
			t.Errorf("glob %v: %d", depth, got.Total)
		}
	}
}

func TestGlob(t *testing.T) {
	f := newFixture(t)
	searchRoot(t, f)
	for _, test := range []struct {
		args args
		want string
	}{
		{args{"pattern": "*.txt"}, "a.txt new/c.txt new/deep/d.txt new/deep/er/e.txt"},
		{args{"pattern": "*.{go,txt}", "max_depth": 0}, "a.txt b.go new/c.txt"},
		{args{"pattern": "new/*.txt"}, ""},
		{args{"pattern": "**/*.txt"}, "a.txt new/c.txt new/deep/d.txt new/deep/er/e.txt"},
		{args{"pattern": "new/**/*.txt"}, "new/c.txt new/deep/d.txt new/deep/er/e.txt"},
		{args{"pattern": "**/deep/*"}, "new/deep/d.txt new/deep/er"},
		{args{"pattern": "*", "path": "new"}, "c.txt deep deep/d.txt deep/er deep/er/e.txt"},
		{args{"regex": `^new/.*/d\.`}, "new/deep/d.txt"},
		{args{"regex": `\.go$`}, "b.go"},
		{args{"pattern": "*", "type_filter": "directory"}, "empty links new new/deep new/deep/er"},
		{args{"pattern": "*", "type_filter": "symlink"}, "links/folder links/in links/none links/out"},
		{args{"pattern": "*", "type_filter": "file", "path": "links"}, ""},
		{args{"pattern": "*", "type_filter": "nonsense"}, ""},
		{args{"pattern": "[broken"}, ""},
		{args{"pattern": "*.txt", "max_results": 2}, "a.txt new/c.txt (truncated)"},
	} {
		test.args["root"] = "work"
		got := result[struct {
			Matches   []struct{ Path string }
			Total     int `json:"total_matches"`
			Truncated bool
		}](t, f, "glob", test.args)
		var paths []string
		for _, m := range got.Matches {
			paths = append(paths, m.Path)
		}
		if got.Truncated {
			paths = append(paths, "(truncated)")
		}
		if diff := cmp.Diff(test.want, strings.Join(paths, " ")); diff != "" || got.Total != len(got.Matches) {
			t.Errorf("%v: %s", test.args, diff)
		}
	}
	if got, want := f.do(t, "glob", args{"root": "work", "pattern": "no such"}), `{"matches":[],"timed_out":false,"total_matches":0,"truncated":false}`; got != want {
		t.Errorf("got %s", got)
	}
	const one = "exactly one of pattern or regex must be provided"
	f.wantError(t, "glob", args{"root": "work"}, one)
	f.wantError(t, "glob", args{"root": "work", "pattern": "", "regex": ""}, one)
	f.wantError(t, "glob", args{"root": "work", "pattern": "*", "regex": "."}, one)
	f.wantError(t, "glob", args{"root": "work", "regex": "("}, "invalid regex: error parsing regexp: missing closing ): `(`")
	f.wantError(t, "glob", args{"root": "work", "pattern": "*", "path": "a.txt"}, "path is not a directory: a.txt")
	f.wantError(t, "glob", args{"root": "work", "pattern": "*", "path": "none"}, "path not found: none")
}

func TestGrepOfLongLinesAndLargeFiles(t *testing.T) {
	f := newFixture(t, func(c *filesystem.Config) { c.MaxLineSize = 8192; c.MaxReadSize = 10_000 })
	put(t, f.work, map[string]string{
		"long":  strings.Repeat("x", 9000) + "needle\nneedle\n" + "needle" + strings.Repeat("y", 9000) + "\nlast needle",
		"many":  strings.Repeat("needle is here\n", 2000),
		"plain": strings.Repeat("some other line\n", 1000) + "needle\n",
	})
	got := f.do(t, "grep", args{"root": "work", "path": "long", "pattern": "needle"})
	want := `{"matches":[{"file":".","line_content":"needle","line_number":2},{"file":".","line_content":"needle` + strings.Repeat("y", 8186) + `","line_number":3},{"file":".","line_content":"last needle","line_number":4}],"timed_out":false,"total_matches":3,"truncated":false}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got = f.do(t, "grep", args{"root": "work", "path": "many", "pattern": "needle", "max_results": 2000})
	if !strings.HasSuffix(got, `"total_matches":715,"truncated":true}`) {
		t.Errorf("got %s", got)
	}
	got = f.do(t, "grep", args{"root": "work", "path": "plain", "pattern": "needle"})
	if !strings.Contains(got, `"line_number":1001`) {
		t.Errorf("got %s", got)
	}
}

// Grep skips text in large steps. For every pattern it must find the same lines as a search
// line by line.
func TestGrepEqualsASearchLineByLine(t *testing.T) {
	f := newFixture(t, func(c *filesystem.Config) { c.MaxLineSize = 8192 })
	var text strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&text, "%s%d ab%sc\n", strings.Repeat("-", i%7), i, strings.Repeat("b", i%4))
	}
	put(t, f.work, map[string]string{"file": text.String()})
	for pattern, match := range map[string]func(string) bool{
		"499 ":    func(s string) bool { return strings.Contains(s, "499 ") },
		"(ab)bbc": func(s string) bool { return strings.Contains(s, "abbbc") },
		"(7|8)9? a": func(s string) bool {
			return strings.ContainsAny(s, "78") && (strings.Contains(s, "7 a") || strings.Contains(s, "8 a") || strings.Contains(s, "79 a") || strings.Contains(s, "89 a"))
		},
		"x*ab{1}c": func(s string) bool { return strings.Contains(s, "abc") },
		"^-1":      func(s string) bool { return strings.HasPrefix(s, "-1") },
		`^\D{6}\d`: func(s string) bool { return strings.HasPrefix(s, "------") },
	} {
		want := 0
		for line := range strings.Lines(text.String()) {
			if match(line) {
				want++
			}
		}
		for _, contextLines := range []int{0, 2} {
			got := f.do(t, "grep", args{"root": "work", "pattern": pattern, "max_results": 10_000, "context_lines": contextLines})
			if !strings.Contains(got, fmt.Sprintf(`"total_matches":%d,`, want)) || want == 0 {
				t.Errorf("%s: want %d, got …%s", pattern, want, got[max(0, len(got)-60):])
			}
		}
	}
}

// Files are scanned in parallel in batches. The result must be in their order and end at the
// limit.
func TestGrepReportsFilesInOrder(t *testing.T) {
	f := newFixture(t)
	for i := range 300 {
		put(t, f.work, map[string]string{fmt.Sprintf("d%d/%03d", i/100, i): strings.Repeat("x\n", i%7) + "needle\nneedle\n"})
	}
	for _, limit := range []int{1, 127, 128, 129, 400, 599, 600, 1000} {
		got := result[struct {
			Matches []struct {
				File string
				Line int `json:"line_number"`
			}
			Truncated bool
		}](t, f, "grep", args{"root": "work", "pattern": "needle", "max_results": limit})
		if len(got.Matches) != min(limit, 600) || got.Truncated != (limit <= 600) {
			t.Errorf("%d: %d matches, truncated %v", limit, len(got.Matches), got.Truncated)
		}
		for i, m := range got.Matches {
			if want := fmt.Sprintf("d%d/%03d", i/200, i/2); m.File != want || m.Line != i/2%7+i%2+1 {
				t.Errorf("%d: match %d is in %s, line %d", limit, i, m.File, m.Line)
			}
		}
	}
}

func TestCallsEndWhenTheyAreCancelled(t *testing.T) {
	f := newFixture(t, func(c *filesystem.Config) { c.MaxWriteSize = 1 << 30 })
	big, err := os.Create(filepath.Join(f.work, "big"))
	must(t, err)
	must(t, big.Truncate(64<<30)) // a sparse file takes long to read and no disk space
	must(t, big.Close())
	put(t, f.work, map[string]string{"patched": strings.Repeat("x\n", 1<<20)})
	for tool, arguments := range map[string]args{
		"hash_file":  {"root": "work", "path": "big", "algorithm": "sha256"},
		"read_file":  {"root": "work", "path": "big", "offset_lines": 1, "limit_lines": 1},
		"patch_file": {"root": "work", "path": "patched", "patch": "@@ -1,40 +1,41 @@\n" + strings.Repeat(" x\n", 39) + "-y\n+z\n+z\n"},
	} {
		start := time.Now()
		result, err := f.callFor(t, 50*time.Millisecond, tool, arguments)
		for err != nil && time.Since(start) < 2*time.Minute { // the timeout ended before the request was sent
			result, err = f.callFor(t, 50*time.Millisecond, tool, arguments)
		}
		must(t, err)
		if text := result.Content[0].(mcp.TextContent).Text; !result.IsError || !strings.Contains(text, "ended") {
			t.Errorf("%s: %v after %v", tool, text, time.Since(start))
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for tool, arguments := range map[string]args{
		"grep": {"root": "work", "pattern": "x"}, "glob": {"root": "work", "pattern": "*"}, "copy": pair("work", "patched", "other", "copy"),
		"list_folder": {"root": "work", "path": "."}, "write_file": {"root": "work", "path": "new/file", "content": ""},
	} {
		var request mcp.CallToolRequest
		request.Params.Name, request.Params.Arguments = tool, arguments
		result, err := f.CallTool(ctx, request) // the transport or the tool reports it, whichever is first
		if err == nil && tool != "write_file" && (!result.IsError || result.Content[0].(mcp.TextContent).Text != "the call was cancelled") {
			t.Errorf("%s: %+v", tool, result)
		}
	}
	if got := tree(t, f.other); len(got) != 0 {
		t.Errorf("left over: %v", got)
	}
}

func TestSearchesEndInTimeWithWhatTheyFound(t *testing.T) {
	f := newFixture(t)
	put(t, f.work, map[string]string{"a": "needle\n"})
	slow, err := os.Create(filepath.Join(f.work, "slow"))
	must(t, err)
	_, err = slow.WriteString(strings.Repeat("x", 9000) + "\n")
	must(t, err)
	must(t, slow.Truncate(64<<30))
	must(t, slow.Close())
	start := time.Now()
	got := f.do(t, "grep", args{"root": "work", "pattern": "needle", "timeout_seconds": 1})
	if took := time.Since(start); took > 2*time.Minute {
		t.Errorf("took %v", took)
	}
	want := `{"matches":[{"file":"a","line_content":"needle","line_number":1}],"timed_out":true,"total_matches":1,"truncated":false}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestUnreadableFilesAreCounted(t *testing.T) {
	if os.Getuid() == 0 { // can read all files
		asNobody(t)
		return
	}
	f := newFixture(t)
	put(t, f.work, map[string]string{"closed": "needle", "folder/file": "needle"})
	must(t, os.Chmod(filepath.Join(f.work, "closed"), 0))
	must(t, os.Chmod(filepath.Join(f.work, "folder"), 0))
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(f.work, "folder"), 0o755) })
	var got struct{ Unreadable int }
	must(t, json.Unmarshal([]byte(f.do(t, "grep", args{"root": "work", "pattern": "needle"})), &got))
	if got.Unreadable != 2 {
		t.Errorf("got %d", got.Unreadable)
	}
	f.wantError(t, "read_file", args{"root": "work", "path": "closed"}, "permission denied: closed")
}
