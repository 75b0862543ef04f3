package filesystem_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"agent-stop-and-go/mcpservers/filesystem"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"
)

func TestSlowPatternsAreRefused(t *testing.T) {
	f := newFixture(t)
	put(t, f.work, map[string]string{strings.Repeat("a", 60): "x", "b": strings.Repeat("b", 60_000) + "\n"})
	braces := strings.Repeat("{a,aa}", 32) + "b"
	const alternatives = "has braces that stand for more than 1000 alternatives: use fewer {…}"
	f.wantError(t, "glob", args{"root": "work", "pattern": braces}, "pattern "+alternatives)
	f.wantError(t, "grep", args{"root": "work", "pattern": "x", "glob_filter": braces}, "glob_filter "+alternatives)
	f.wantError(t, "glob", args{"root": "work", "pattern": strings.Repeat("a", 1025)}, "pattern is too long: 1025 bytes, at most 1024 are allowed")
	slow := strings.Repeat("(b?){999}", 4) + "[yz]"
	f.wantError(t, "grep", args{"root": "work", "pattern": slow}, "invalid pattern: too complex: use smaller repetitions")
	f.wantError(t, "glob", args{"root": "work", "regex": slow}, "invalid regex: too complex: use smaller repetitions")
	f.wantError(t, "grep", args{"root": "work", "pattern": strings.Repeat("x{999}", 11)}, "invalid pattern: too complex: use smaller repetitions")
	f.wantError(t, "grep", args{"root": "work", "pattern": strings.Repeat("a", 4097)}, "invalid pattern: 4097 bytes are too long, at most 4096 are allowed")
}

func TestMatchingAllowedBracesEndsInTime(t *testing.T) {
	f := newFixture(t)
	put(t, f.work, map[string]string{strings.Repeat("a", 250): "x"})
	start := time.Now()
	for _, pattern := range []string{strings.Repeat("*{a,aa}", 9) + "b", "**/" + strings.Repeat("*{a,aa}", 9) + "b"} {
		f.do(t, "glob", args{"root": "work", "pattern": pattern})
	}
	if took := time.Since(start); took > 2*time.Minute {
		t.Errorf("took %v", took)
	}
}

func TestBracesStandForAlternatives(t *testing.T) {
	f := newFixture(t)
	put(t, f.work, map[string]string{"a.go": "", "a,b": "", "{x}": "", "d/e.md": ""})
	for pattern, want := range map[string]int{
		"a.{go,md}": 1, "a{.{go,md},,[,]b}": 2, `\{x\}`: 1, "{a.go,{x}": 0, "[{]x}": 1, `[{]x\}`: 1, "{a.go}": 1, "**/{d/,}*.{go,md}": 2, "}": 0,
	} {
		got := result[struct {
			Total int `json:"total_matches"`
		}](t, f, "glob", args{"root": "work", "pattern": pattern})
		if got.Total != want {
			t.Errorf("%s: %d, want %d", pattern, got.Total, want)
		}
	}
}

func TestGrepChecksTheTimeoutBetweenLines(t *testing.T) {
	f := newFixture(t)
	put(t, f.work, map[string]string{"slow": strings.Repeat(strings.Repeat("b", 500)+"\n", 40_000)})
	start := time.Now()
	got := f.do(t, "grep", args{"root": "work", "pattern": "(b?){950}(b?){950}[yz]", "timeout_seconds": 1})
	if took := time.Since(start); took > 2*time.Minute || !strings.Contains(got, `"timed_out":true`) {
		t.Errorf("%v: %s", took, got)
	}
}

// The file is sparse, and reading all of it takes much longer than a call may take.
func TestLinesOfAnEnormousFile(t *testing.T) {
	f := newFixture(t, func(c *filesystem.Config) { c.MaxTimeoutSeconds = 120 })
	put(t, f.work, map[string]string{"log": lines(1, 4) + strings.Repeat("x", 9000) + "\n"})
	const size = 1 << 40
	must(t, os.Truncate(filepath.Join(f.work, "log"), size))
	got := f.do(t, "read_file", args{"root": "work", "path": "log", "offset_lines": 2, "limit_lines": 2})
	if want := `{"content":"line 2\nline 3","size":1099511627776,"truncated":true}`; got != want {
		t.Errorf("got %s, expected %s", got, want)
	}
	f.wantError(t, "read_file", args{"root": "work", "path": "log", "offset_lines": 7, "limit_lines": 1},
		"line 7 is not within the first 256.0MB of the file (size: 1024.0GB), where lines are looked for; line 6 is the last one there: use offset_bytes/limit_bytes")
}

// If many large files match, grep must not hold more than it returns.
func TestGrepKeepsWhatItReturns(t *testing.T) {
	f := newFixture(t, func(c *filesystem.Config) { c.MaxReadSize = 1 << 20 })
	put(t, f.work, map[string]string{"000": strings.Repeat("needle"+strings.Repeat("x", 93)+"\n", 10_500)})
	for i := 1; i < 250; i++ { // all of it would be over 600 MiB
		must(t, os.Link(filepath.Join(f.work, "000"), filepath.Join(f.work, fmt.Sprintf("%03d", i))))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := f.do(t, "grep", args{"root": "work", "pattern": "needle", "max_results": 10_000})
	runtime.ReadMemStats(&after)
	if allocated := (after.TotalAlloc - before.TotalAlloc) >> 20; allocated > 400 {
		t.Errorf("allocated %d MiB", allocated)
	}
	if !strings.HasSuffix(got, `"total_matches":10000,"truncated":true}`) || strings.Contains(got, `"file":"001"`) {
		t.Errorf("got …%s", got[len(got)-200:])
	}
}

func TestLinesBeforeAMatchAreLimitedInSize(t *testing.T) {
	f := newFixture(t)
	put(t, f.work, map[string]string{"a": strings.Repeat(strings.Repeat("x", 60_000)+"\n", 100) + "needle\n"})
	got := result[struct {
		Matches []struct {
			Before []string `json:"context_before"`
		}
	}](t, f, "grep", args{"root": "work", "pattern": "needle", "context_lines": 100})
	if len(got.Matches) != 1 || len(got.Matches[0].Before) != 17 {
		t.Errorf("got %d matches, %d lines", len(got.Matches), len(got.Matches[0].Before))
	}
}

func TestCopiesAreLimitedInSize(t *testing.T) {
	f := newFixture(t, func(c *filesystem.Config) { c.MaxCopySize = 1 << 20 })
	put(t, f.work, map[string]string{"dir/a": strings.Repeat("a", 1<<19), "dir/b": strings.Repeat("b", 1<<19), "more/a": strings.Repeat("a", 1<<20), "more/b": "b"})
	hole, err := os.Create(filepath.Join(f.work, "hole"))
	must(t, err)
	must(t, hole.Truncate(1<<40))
	must(t, hole.Close())
	f.do(t, "copy", pair("work", "dir", "other", "dir"))
	f.wantError(t, "copy", pair("work", "hole", "other", "hole"), "too large to copy (limit: 1.0MB): hole")
	f.wantError(t, "copy", pair("work", "more", "other", "more"), "too large to copy (limit: 1.0MB): more")
	f.wantError(t, "move", pair("work", "hole", "other", "hole"), "too large to copy (limit: 1.0MB): hole")
	f.do(t, "move", pair("work", "hole", "work", "moved"))
	if _, err := os.Stat(filepath.Join(f.other, "hole")); err == nil {
		t.Error("something was copied")
	}
}

func TestControlCharactersCountAsInJSON(t *testing.T) {
	f := newFixture(t, func(c *filesystem.Config) { c.MaxFullReadSize = 1000; c.MaxReadSize = 3000 })
	put(t, f.work, map[string]string{"bell": strings.Repeat("\a", 900), "big": strings.Repeat("\a", 3000), "text": strings.Repeat("\"\n", 500)})
	const use = "; use offset/limit parameters for smaller parts"
	f.wantError(t, "read_file", args{"root": "work", "path": "bell"}, "content too large in JSON (size: 5.3KB, limit: 2.0KB)"+use)
	f.wantError(t, "read_file", args{"root": "work", "path": "big", "limit_bytes": 3000}, "content too large in JSON (size: 17.6KB, limit: 5.9KB)"+use)
	f.wantError(t, "read_file", args{"root": "work", "path": "big", "limit_lines": 1}, "content too large in JSON (size: 17.6KB, limit: 5.9KB)"+use)
	f.do(t, "read_file", args{"root": "work", "path": "big", "limit_bytes": 1000})
	f.do(t, "read_file", args{"root": "work", "path": "text"})
}

func TestLargeResultsAreTextOnly(t *testing.T) {
	f := newFixture(t)
	put(t, f.work, map[string]string{"big": strings.Repeat("x", 2<<20)})
	for size, want := range map[int]bool{1 << 19: true, 2 << 20: false} {
		var request mcp.CallToolRequest
		request.Params.Name, request.Params.Arguments = "read_file", args{"root": "work", "path": "big", "limit_bytes": size}
		got, err := f.CallTool(t.Context(), request)
		must(t, err)
		if (got.StructuredContent != nil) != want || len(got.Content[0].(mcp.TextContent).Text) < size {
			t.Errorf("%d bytes: structured content is wrong", size)
		}
	}
}

func TestMovingOntoAnotherNameOfTheSameFile(t *testing.T) {
	base := t.TempDir()
	f := newFixture(t, func(c *filesystem.Config) {
		c.Roots = append(c.Roots, filesystem.RootConfig{Name: "sub", Path: base, AllowedTools: []string{"*"}},
			filesystem.RootConfig{Name: "above", Path: filepath.Dir(base), AllowedTools: []string{"*"}})
	})
	put(t, f.work, map[string]string{"a": "text"})
	must(t, os.Link(filepath.Join(f.work, "a"), filepath.Join(f.work, "b")))
	f.do(t, "move", pair("work", "a", "work", "b"))
	if diff := cmp.Diff(map[string]string{"b": "text"}, tree(t, f.work)); diff != "" {
		t.Error(diff)
	}
	put(t, base, map[string]string{"file": "text", "dir/file": "text"})
	for _, name := range []string{"file", "dir"} {
		f.do(t, "move", pair("sub", name, "above", filepath.Base(base)+"/"+name))
	}
	if diff := cmp.Diff(map[string]string{"file": "text", "dir": "/", "dir/file": "text"}, tree(t, base)); diff != "" {
		t.Error(diff)
	}
}

func TestNamesOfUnfinishedCopiesAreReserved(t *testing.T) {
	f := newFixture(t)
	put(t, f.work, map[string]string{"a": "a"})
	const name = ".mcp-filesystem-x.tmp"
	want := "names like .mcp-filesystem-*.tmp are reserved for unfinished copies: "
	for _, mode := range []string{"overwrite", "append", "create_only"} {
		f.wantError(t, "write_file", args{"root": "work", "path": name, "content": "x", "mode": mode}, want+name)
	}
	f.wantError(t, "write_file", args{"root": "work", "path": name + "/b", "content": "x"}, want+name+"/b")
	f.wantError(t, "patch_file", args{"root": "work", "path": name, "patch": "@@ -0,0 +1 @@\n+x\n"}, want+name)
	f.wantError(t, "create_folder", args{"root": "work", "path": name}, want+name)
	f.wantError(t, "copy", pair("work", "a", "work", name), want+name)
	f.wantError(t, "move", pair("work", "a", "work", name), want+name)
	put(t, f.work, map[string]string{name: "left over"})
	f.do(t, "remove_file", args{"root": "work", "path": name})
}

// Files of /proc are longer than their reported size, like growing files.
func TestAFileThatGrowsIsNotPatchedInPart(t *testing.T) {
	if _, err := os.Stat("/proc/self/maps"); err != nil {
		t.Skip("no /proc")
	}
	f := newFixture(t, func(c *filesystem.Config) {
		c.MaxWriteSize = 40
		c.Roots = append(c.Roots, filesystem.RootConfig{Name: "proc", Path: "/proc/self", AllowedTools: []string{"patch_file"}})
	})
	f.wantError(t, "patch_file", args{"root": "proc", "path": "maps", "patch": "@@ -1 +1 @@\n-a\n+b\n"}, "file too large (size: 41B, limit: 40B)")
}

func TestCreateOnlyIsSeenWhole(t *testing.T) {
	f := newFixture(t)
	text := strings.Repeat("x", 2<<20)
	var stop atomic.Bool
	var watcher sync.WaitGroup
	watcher.Go(func() {
		for !stop.Load() {
			for i := range 3 {
				if info, err := os.Stat(filepath.Join(f.work, fmt.Sprint(i))); err == nil && info.Size() != int64(len(text)) {
					t.Errorf("%d bytes are there", info.Size())
					return
				}
			}
		}
	})
	for i := range 3 {
		f.do(t, "write_file", args{"root": "work", "path": fmt.Sprint(i), "content": text, "mode": "create_only"})
	}
	stop.Store(true)
	watcher.Wait()
	if got := tree(t, f.work); len(got) != 3 {
		t.Errorf("%d files", len(got))
	}
}
