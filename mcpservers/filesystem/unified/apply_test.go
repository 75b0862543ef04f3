package unified_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"os"

	"agent-stop-and-go/mcpservers/filesystem/unified"

	"github.com/google/go-cmp/cmp"
)

// numberedLines returns the lines l1 to ln.
func numberedLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "l%d\n", i+1)
	}
	return b.String()
}

func TestApply(t *testing.T) {
	for name, test := range map[string]struct{ old, patch, want string }{
		"exact":                               {"a\nb\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", "a\nB\nc\n"},
		"with file headers":                   {"a\nb\n", "diff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n", "a\nB\n"},
		"without a line end at its end":       {"a\nb\nc\n", "@@ -2 +2 @@\n-b\n+B", "a\nB\nc\n"},
		"with an empty line at its end":       {"a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+B\n\n", "a\nB\n"},
		"a context line that lost its space":  {"a\n\nb\n", "@@ -1,3 +1,3 @@\n a\n\n-b\n+B\n", "a\n\nB\n"},
		"deleting a line that begins with --": {"a\n-- b\nc\n", "@@ -1,3 +1,2 @@\n a\n--- b\n c\n", "a\nc\n"},
		"adding a line that begins with ++":   {"a\n", "@@ -1 +1,2 @@\n a\n+++ b\n", "a\n++ b\n"},
		"SQL comment replaced":                {"-- x\n", "@@ -1 +1 @@\n--- x\n+++ y\n", "++ y\n"},
		"several hunks":                       {numberedLines(20), "@@ -2,2 +2,1 @@\n-l2\n l3\n@@ -18,2 +17,3 @@\n l18\n+new\n l19\n", strings.Replace(strings.Replace(numberedLines(20), "l2\n", "", 1), "l18\n", "l18\nnew\n", 1)},
		"hunks out of order":                  {"a\nb\nc\n", "@@ -3 +3 @@\n-c\n+C\n@@ -1 +1 @@\n-a\n+A\n", "A\nb\nC\n"},
		"a new file":                          {"", "--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\n+b\n", "a\nb\n"},
		"everything deleted":                  {"a\nb\n", "@@ -1,2 +0,0 @@\n-a\n-b\n", ""},
		"insertion after a line, no context":  {"a\nb\nc\n", "@@ -2,0 +3 @@\n+new\n", "a\nb\nnew\nc\n"},
		"insertion at the top, no context":    {"a\n", "@@ -0,0 +1 @@\n+new\n", "new\na\n"},
		"insertion at the end, no context":    {"a\nb", "@@ -2,0 +3 @@\n+new\n", "a\nb\nnew"},
		"deletion at the top, no context":     {"a\nb\n", "@@ -1 +0,0 @@\n-a\n", "b\n"},
		"no line end is kept":                 {"a\nb\nc", "@@ -1,2 +1,2 @@\n a\n-b\n+B\n", "a\nB\nc"},
		"no line end is kept at the change":   {"a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n+B\n", "a\nB"},
		"a line end is added":                 {"a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n", "a\nb\n"},
		"a line end is taken away":            {"a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n", "a\nb"},
		"plain patch on CRLF":                 {"a\r\nb\r\n", "@@ -1,2 +1,3 @@\n a\n-b\n+B\n+C\n", "a\r\nB\r\nC\r\n"},
		"CRLF patch on plain":                 {"a\n\nb\n", "@@ -1,3 +1,3 @@\r\n a\r\n\r\n-b\r\n+B\r\n", "a\n\nB\n"},
		"CRLF patch on CRLF":                  {"a\r\nb\r\n", "@@ -2 +2 @@\r\n-b\r\n+B\r\n", "a\r\nB\r\n"},
		"wrong counts":                        {"a\nb\nc\n", "@@ -1,9 +1,1 @@\n a\n-b\n+B\n+B2\n c\n\n\n", "a\nB\nB2\nc\n"},
		"signature of a mailed patch":         {"a\n", "@@ -1 +1 @@\n-a\n+b\n-- \n2.43.0\n", "b\n"},
		"binary text around the change":       {"\x00\xff\na\n", "@@ -2 +2 @@\n-a\n+b\n", "\x00\xff\nb\n"},
	} {
		got, err := unified.Apply(t.Context(), []byte(test.old), test.patch)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if diff := cmp.Diff(test.want, string(got.Text)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestHunksDescribeHowTheyWereApplied(t *testing.T) {
	for name, test := range map[string]struct {
		old, patch string
		want       []unified.Hunk
	}{
		"in place":    {numberedLines(9), "@@ -4,3 +4,3 @@\n l4\n-l5\n+x\n l6\n", []unified.Hunk{{Hunk: 1, Line: 4}}},
		"below":       {numberedLines(9), "@@ -1,3 +1,3 @@\n l4\n-l5\n+x\n l6\n", []unified.Hunk{{Hunk: 1, Line: 4, Offset: 3}}},
		"above":       {numberedLines(9), "@@ -700,3 +700,3 @@\n l4\n-l5\n+x\n l6\n", []unified.Hunk{{Hunk: 1, Line: 4, Offset: -696}}},
		"fuzz 1":      {numberedLines(9), "@@ -4,3 +4,3 @@\n other\n-l5\n+x\n l6\n", []unified.Hunk{{Hunk: 1, Line: 4, Fuzz: 1}}},
		"fuzz 2":      {numberedLines(9), "@@ -3,5 +3,5 @@\n q\n q\n-l5\n+x\n l6\n l7\n", []unified.Hunk{{Hunk: 1, Line: 3, Fuzz: 2}}},
		"recounted":   {numberedLines(9), "@@ -5,2 +5,2 @@\n-l5\n+x\n", []unified.Hunk{{Hunk: 1, Line: 5, Recounted: true}}},
		"drift":       {numberedLines(9), "@@ -1 +1 @@\n-l3\n+x\n@@ -5 +5 @@\n-l7\n+y\n", []unified.Hunk{{Hunk: 1, Line: 3, Offset: 2}, {Hunk: 2, Line: 7, Offset: 2}}},
		"nearest":     {"a\nx\nx\nx\na\n", "@@ -4 +4 @@\n-a\n+b\n", []unified.Hunk{{Hunk: 1, Line: 5, Offset: 1}}},
		"own lines":   {"a\na\n", "@@ -1 +1 @@\n-a\n+b\n@@ -1 +1 @@\n-a\n+c\n", []unified.Hunk{{Hunk: 1, Line: 1}, {Hunk: 2, Line: 2, Offset: 1}}},
		"their order": {"a\nb\n", "@@ -2 +2 @@\n-b\n+B\n@@ -1 +1 @@\n-a\n+A\n", []unified.Hunk{{Hunk: 1, Line: 2}, {Hunk: 2, Line: 1}}},
	} {
		got, err := unified.Apply(t.Context(), []byte(test.old), test.patch)
		if diff := cmp.Diff(test.want, got.Hunks); err != nil || diff != "" {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
}

func TestPatchesThatDoNotApply(t *testing.T) {
	for name, test := range map[string]struct{ old, patch, want string }{
		"empty":                    {"a\n", "", "parse patch: no hunks found in patch"},
		"no hunk":                  {"a\n", "--- a\n+++ b\nhello\n", "parse patch: no hunks found in patch"},
		"header":                   {"a\n", "@@ -x +1 @@\n-a\n+b\n", `parse patch: hunk 1: header "@@ -x +1 @@" is not of the form @@ -1,2 +1,3 @@`},
		"huge header":              {"a\n", "@@ -99999999999999999999 +1 @@\n-a\n+b\n", "parse patch: hunk 1: invalid fragment header: bad start of range: 99999999999999999999: value out of range"},
		"nothing changes":          {"a\n", "@@ -1 +1 @@\n a\n", "parse patch: hunk 1: fragment contains no changes"},
		"no body":                  {"a\n", "@@ -1 +1 @@\n", "parse patch: hunk 1: no content following fragment header"},
		"two files":                {"a\n", "--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n--- c\n+++ d\n@@ -1 +1 @@\n-a\n+b\n", "parse patch: patch changes more than one file"},
		"other text":               {"a\nb\n", "@@ -1,2 +1,2 @@\n a\n-x\n+y\n", `patch failed: hunk 1 does not match at line 2 (expected "x", got "b")`},
		"beyond the end":           {"a\n", "@@ -7,2 +7,2 @@\n x\n-y\n+z\n", `patch failed: hunk 1 does not match at line 7 (expected "x", got end of file)`},
		"insertion beyond the end": {"a\n", "@@ -7,0 +8 @@\n+z\n", `patch failed: hunk 1 does not match at line 8 (expected a line before, got end of file)`},
		"second hunk":              {"a\nb\n", "@@ -1 +1 @@\n-a\n+A\n@@ -2 +2 @@\n-x\n+y\n", `patch failed: hunk 2 does not match at line 2 (expected "x", got "b")`},
		"same line twice":          {"a\n", "@@ -1 +1 @@\n-a\n+A\n@@ -1 +1 @@\n-a\n+B\n", `patch failed: hunk 2 does not match at line 1 (expected lines of its own, got lines that the hunk before changed)`},
		"creating what exists":     {"a\n", "--- /dev/null\n+++ b\n@@ -0,0 +1 @@\n+b\n", `patch failed: hunk 1 does not match at line 1 (expected an empty file, got "a")`},
		"line end expected":        {"a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n", `patch failed: hunk 1 does not match at line 1 (expected "a", got "a\n")`},
		"last line in the middle":  {"a\nb\n", "@@ -1 +1 @@\n-a\n+c\n\\ No newline at end of file\n", `patch failed: hunk 1 does not match at line 2 (expected end of file, got "b")`},
		"glued lines":              {"a\nb\n", "@@ -1,2 +1,2 @@\n+c\n\\ No newline at end of file\n a\n-b\n", "parse patch: hunk 1: a line marked as having no newline at end of file is not the last"},
		"nothing to hold on to":    {"a\n", "@@ -5,2 +5,3 @@\n x\n y\n+z\n", `patch failed: hunk 1 does not match at line 5 (expected "x", got end of file)`},
	} {
		got, err := unified.Apply(t.Context(), []byte(test.old), test.patch)
		if err == nil || err.Error() != test.want {
			t.Errorf("%s: got %q, %v", name, got.Text, err)
		}
	}
}

func TestALongSearchEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	hunk := "@@ -1,40 +1,41 @@\n" + strings.Repeat(" x\n", 39) + "-y\n+z\n+z\n"
	old := []byte(strings.Repeat("x\n", 1<<20))
	start := time.Now()
	_, err := unified.Apply(ctx, old, hunk)
	if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took > 2*time.Minute {
		t.Errorf("%v after %v", err, took)
	}
}

// randomText returns a text with few different lines, so that diffs have many repetitions.
func randomText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(30) {
		b.WriteString([]string{"a", "b", "", "- c", "-- d", "++ e", " f", "@@ -1 +1 @@", "\\ No newline"}[r.IntN(9)] + "\n")
	}
	if r.IntN(3) == 0 {
		return strings.TrimSuffix(b.String(), "\n")
	}
	return b.String()
}

func TestADiffOfTwoTextsTurnsOneIntoTheOther(t *testing.T) {
	if _, err := exec.LookPath("diff"); err != nil {
		t.Skip("needs diff")
	}
	r := rand.New(rand.NewPCG(1, uint64(time.Now().UnixNano())))
	for i := range 300 {
		old, wanted := randomText(r), randomText(r)
		patch := diff(t, old, wanted, i%4)
		if patch == "" {
			continue
		}
		got, err := unified.Apply(t.Context(), []byte(old), patch)
		if err != nil || string(got.Text) != wanted {
			t.Fatalf("%v: got %q, want %q\nold %q\n%s", err, got.Text, wanted, old, patch)
		}
		for _, h := range got.Hunks {
			if h.Offset != 0 || h.Fuzz != 0 || h.Recounted {
				t.Errorf("%+v for\n%s", h, patch)
			}
		}
	}
}

func diff(t *testing.T, before, after string, contextLines int) string {
	t.Helper()
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	for name, text := range map[string]string{a: before, b: after} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, _ := exec.CommandContext(t.Context(), "diff", fmt.Sprintf("-U%d", contextLines), a, b).Output()
	return string(out)
}

func FuzzApply(f *testing.F) {
	f.Add([]byte("a\nb\nc"), "--- a\n+++ b\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n\\ No newline at end of file\n")
	f.Add([]byte("a\r\n"), "@@ -1 +1,2 @@\n-a\n+b\n+c")
	f.Add([]byte(""), "@@ -0,0 +1 @@\n+x\n@@ -9,9 +9 @@\n\n\n-")
	f.Add([]byte("x\n\ny\n"), "@@ -1,0 +2 @@ f\n+\\\n\\ No newline\n@@ -3 +2,0 @@\n-y")
	f.Fuzz(func(t *testing.T, old []byte, patch string) {
		before := bytes.Clone(old)
		got, err := unified.Apply(t.Context(), old, patch)
		if !bytes.Equal(before, old) {
			t.Fatal("the old text was changed")
		}
		if err != nil {
			return
		}
		if len(got.Hunks) == 0 {
			t.Fatal("applied without hunks")
		}
		if limit := len(old) + 2*len(patch) + 1; len(got.Text) > limit {
			t.Fatalf("%d bytes from %d and a patch of %d", len(got.Text), len(old), len(patch))
		}
	})
}
