package store_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"agent-stop-and-go/mcpservers/drive/store"
	"agent-stop-and-go/mcpservers/hosting"
)

func TestNames(t *testing.T) {
	for _, name := range []string{"a", "notes.txt", "Überblick 2026 (final).md", "日本語", ".hidden", "a..b", "...a", "l·l", "it's", "a|b:c", "50 %", strings.Repeat("x", 255)} {
		if err := store.CheckName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{
		"", ".", "..", "...", "a/b", `a\b`, "/", "\x00", "a\nb", "a\tb", " a", "a ", "\u00a0a", strings.Repeat("x", 256), "a\xff",
		"\uff0e\uff0e", "\u2024\u2024", "\u2025", "\u2026", "\uff0f", "a\uff0fb", "a\u2215b", "a\u2044b", "a\uff3cb", "a\ufe68b", "a\u29f8b", "a\u2571b", "\u00b7\u00b7", "\ua4f8\ua4f8", // look-alikes
		"a\u202eb", "a\u200bb", "a\u200db", "a\u2066b", "\ufeffa", "a\u2028b", "a\u00adb", // invisible
		"U\u0308ber", // not in NFC
		"\ue000",     // private use
		"a\ufffdb",
	} {
		if err := store.CheckName(name); err == nil {
			t.Errorf("%q is taken", name)
		}
	}
}

func TestPaths(t *testing.T) {
	for _, p := range []string{"a", "a/b/c.txt", "2026/Überblick.md", "a/.mcp-drive-trash/b"} {
		if got, err := store.CleanPath(p); err != nil || got != p {
			t.Errorf("%q: %q %v", p, got, err)
		}
	}
	for _, p := range []string{
		"", "/", "/etc/passwd", "..", "../a", "a/..", "a/../../b", "a/./b", "./a", "a//b", "a/", `a\..\b`, `C:\a`, "a/\uff0e\uff0e/b", "a/%2e%2e\x00", "\uff0fetc", "a/\u2025/b",
		".mcp-drive-trash", ".mcp-drive-trash/x/a", ".MCP-Drive-Trash/x/a", strings.Repeat("a/", 60) + "a", strings.Repeat("abcdefghi/", 49) + strings.Repeat("x", 600),
	} {
		if got, err := store.CleanPath(p); err == nil {
			t.Errorf("%q is taken as %q", p, got)
		}
	}
	for given, want := range map[string]string{"": "", ".": "", "a/": "a", "a/b": "a/b"} {
		if got, err := store.CleanFolder(given); err != nil || got != want {
			t.Errorf("%q: %q %v", given, got, err)
		}
	}
	for _, given := range []string{"..", "a//", "/", "../"} {
		if got, err := store.CleanFolder(given); err == nil && got != "" {
			t.Errorf("%q is taken as %q", given, got)
		}
	}
}

func TestMarks(t *testing.T) {
	first := store.NewMark("append", hosting.CallKey{Key: "k", ArgsSHA256: "a"})
	if again := store.NewMark("append", hosting.CallKey{Key: "k", ArgsSHA256: "a"}); again != first {
		t.Errorf("%v %v", first, again)
	}
	if other := store.NewMark("append", hosting.CallKey{Key: "k", ArgsSHA256: "b"}); other.ID != first.ID || first.Check(other.Args) == nil {
		t.Errorf("%v %v", first, other)
	}
	if a, b := store.NewMark("append", hosting.CallKey{}), store.NewMark("append", hosting.CallKey{}); a.ID == b.ID {
		t.Error("two calls without a key have one mark")
	}
	marks := store.Marks("").With(first)
	for n := range store.MaxMarks {
		if args, ok := marks.Find(first.ID); !ok || args != first.Args {
			t.Fatalf("lost after %d", n)
		}
		marks = marks.With(store.NewMark("append", hosting.CallKey{}))
	}
	if _, ok := marks.Find(first.ID); ok || len(strings.Fields(string(marks))) != store.MaxMarks || len(marks) > 800 {
		t.Errorf("%d bytes: %s", len(marks), marks)
	}
}

func TestLocks(t *testing.T) {
	var locks store.Locks
	var group sync.WaitGroup
	counts := map[string]*int{"a": new(int), "b": new(int)}
	for n := range 100 {
		group.Go(func() {
			name := []string{"a", "b"}[n%2]
			unlock, err := locks.Lock(t.Context(), name)
			if err != nil {
				t.Error(err)
				return
			}
			*counts[name]++
			unlock()
		})
	}
	group.Wait()
	if *counts["a"] != 50 || *counts["b"] != 50 {
		t.Error(fmt.Sprint(*counts["a"], *counts["b"]))
	}
	unlock, err := locks.Lock(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := locks.Lock(ctx, "a"); err == nil {
		t.Error("locked twice")
	}
	unlock()
	if unlock, err = locks.Lock(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	unlock()
}
