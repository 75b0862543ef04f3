package filesystem_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BenchmarkGrep searches 10,000 files of 2 to 6 KB through an MCP client and
// reports how long that takes as a multiple of grep -r.
func BenchmarkGrep(b *testing.B) {
	f := newFixture(b)
	for i := range 10_000 {
		dir := filepath.Join(f.work, fmt.Sprintf("d%02d/e%d", i%50, i%7))
		must(b, os.MkdirAll(dir, 0o755))
		text := strings.Repeat(fmt.Sprintf("func name%d(ctx context.Context, value int) error {\n", i), 40+i%80)
		if i%1000 == 0 {
			text += "the needle\n"
		}
		must(b, os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.go", i)), []byte(text), 0o644))
	}
	for _, search := range []struct {
		name, pattern string
		flags         []string
		arguments     args
	}{
		{"literal", "needle", nil, args{}},
		{"regexp", "n[e]+dle|nothing", []string{"-E"}, args{}},
		{"insensitive", "NEEDLE", []string{"-i"}, args{"case_insensitive": true}},
	} {
		b.Run(search.name, func(b *testing.B) {
			arguments := with(search.arguments, args{"root": "work", "pattern": search.pattern})
			var theirs time.Duration
			for b.Loop() {
				if got := f.do(b, "grep", arguments); !strings.Contains(got, `"total_matches":10,`) {
					b.Fatalf("got %s", got)
				}
				b.StopTimer()
				start := time.Now()
				out, err := exec.CommandContext(context.Background(), "grep", append(search.flags, "-rn", search.pattern, f.work)...).Output()
				theirs += time.Since(start)
				if err != nil || strings.Count(string(out), "\n") != 10 {
					b.Fatalf("grep: %v %s", err, out)
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(b.Elapsed())/float64(theirs), "x-grep")
		})
	}
}
