package filesystem_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"agent-stop-and-go/mcpservers/filesystem"
)

// Matching one line or one name with an expression near the limit takes minutes.
func TestMatchingOneLineEndsInTime(t *testing.T) {
	f := newFixture(t, func(c *filesystem.Config) { c.MaxLineSize = 8 << 20 })
	put(t, f.work, map[string]string{"slow": strings.Repeat("b", 8<<20-1)})
	start := time.Now()
	slow := strings.Repeat("(b?){950}", 2) + "[yz]"
	got := f.do(t, "grep", args{"root": "work", "pattern": slow, "timeout_seconds": 1})
	if took := time.Since(start); took > 2*time.Minute || !strings.Contains(got, `"timed_out":true`) {
		t.Errorf("%v: %s", took, got)
	}
}

// Matching with checks of the context gives the same result as matching without.
func TestLongLinesMatchLikeShortOnes(t *testing.T) {
	f := newFixture(t, func(c *filesystem.Config) { c.MaxLineSize = 1 << 20 })
	line := strings.Repeat("é\xff", 1_000) + "end"
	put(t, f.work, map[string]string{"a": "x\n" + line + "\ny\n"})
	for pattern, want := range map[string]int{
		"(é?){900}é.end$": 1, "^(é?.?){900}end": 0, `\bend\b(x?){900}`: 1, `(x?){900}\Bend`: 0, "(x?){900}\uFFFDend": 1,
	} {
		got := result[struct {
			Total int `json:"total_matches"`
		}](t, f, "grep", args{"root": "work", "pattern": pattern})
		if got.Total != want {
			t.Errorf("%s: %d, want %d", pattern, got.Total, want)
		}
	}
}

// Two programs have no common locks.
func TestProgramsThatCreateAFileByAppendingLoseNothing(t *testing.T) {
	f := newFixture(t)
	config := filesystem.DefaultConfig()
	config.Roots = []filesystem.RootConfig{{Name: "work", Path: f.work, AllowedTools: []string{"*"}}}
	second := f
	second.Client = connect(t, config)
	for i := range 200 {
		name := fmt.Sprint(i)
		var group sync.WaitGroup
		for _, one := range []fixture{f, second} {
			group.Go(func() { one.do(t, "write_file", args{"root": "work", "path": name, "content": "x", "mode": "append"}) })
		}
		group.Wait()
		if got := content(t, filepath.Join(f.work, name)); got != "xx" {
			t.Fatalf("%s holds %q", name, got)
		}
	}
}

// New content must not inherit setuid and setgid.
func TestNewContentHasNoSpecialRights(t *testing.T) {
	f := newFixture(t)
	path := filepath.Join(f.work, "program")
	put(t, f.work, map[string]string{"program": "old\n"})
	must(t, os.Chmod(path, 0o755|os.ModeSetuid|os.ModeSetgid))
	f.do(t, "write_file", args{"root": "work", "path": "program", "content": "new\n"})
	info, err := os.Stat(path)
	must(t, err)
	if info.Mode() != 0o755 {
		t.Errorf("mode is %v", info.Mode())
	}
}

func TestUnreasonableLimitsAreRefused(t *testing.T) {
	for key, change := range map[string]func(*filesystem.Config){
		"max_full_read_size":  func(c *filesystem.Config) { c.MaxFullReadSize = math.MaxInt64 },
		"max_read_size":       func(c *filesystem.Config) { c.MaxReadSize = math.MaxInt64 },
		"max_write_size":      func(c *filesystem.Config) { c.MaxWriteSize = math.MaxInt64 },
		"max_copy_size":       func(c *filesystem.Config) { c.MaxCopySize = math.MaxInt64 },
		"max_line_size":       func(c *filesystem.Config) { c.MaxLineSize = math.MaxInt64 },
		"max_results":         func(c *filesystem.Config) { c.MaxResults = math.MaxInt64 },
		"max_timeout_seconds": func(c *filesystem.Config) { c.MaxTimeoutSeconds = math.MaxInt64 },
	} {
		config := filesystem.DefaultConfig()
		config.Roots = []filesystem.RootConfig{{Name: "work", Path: t.TempDir(), AllowedTools: []string{"*"}}}
		change(&config)
		if err := config.Validate(); err == nil || !strings.Contains(err.Error(), key+" is 9223372036854775807: it must be at most ") {
			t.Errorf("%s: %v", key, err)
		}
	}
}
