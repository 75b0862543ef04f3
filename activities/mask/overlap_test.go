package mask_test

import (
	"runtime"
	"strings"
	"testing"

	"agent-stop-and-go/activities/mask"
)

// Secrets that overlap with themselves, and texts in which they do.
var overlapping = map[string]struct{ secret, text string }{
	"dashes":      {"--------", "-"},
	"letters":     {"xxxxxxxx", "x"},
	"long":        {strings.Repeat("a", 64) + "b", "a"},
	"very long":   {strings.Repeat("a", 1000), "a"},
	"two letters": {"abababab", "ab"},
	"escaped":     {"xxxxxxxx", "%78"},
}

// allocated returns the number of bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestAStreamOfOverlappingSecretsIsShownAsItComes(t *testing.T) {
	for name, o := range overlapping {
		m := mask.New(mask.Value(o.secret))
		s := m.Stream()
		var shown strings.Builder
		write := func(text string) {
			for ; len(text) > 0; text = text[min(4, len(text)):] {
				shown.WriteString(s.Write(text[:min(4, len(text))]))
			}
		}
		write("It is ")
		used := allocated(func() { write(strings.Repeat(o.text, 16<<10/len(o.text))) })
		if got := shown.String(); got != "It is [secret]" {
			t.Errorf("%s: %.100q is shown before the end", name, got)
		}
		if used > 8<<20 {
			t.Errorf("%s: 16 KiB took %d KiB of memory", name, used>>10)
		}
		write(". And " + strings.Repeat("more ", 20))
		if got := shown.String(); !strings.HasPrefix(got, "It is [secret]. And more more") {
			t.Errorf("%s: %.100q is shown before the end", name, got)
		}
	}
}

func TestAStreamOfOverlappingSecretsIsThatOfTheWholeText(t *testing.T) {
	for name, o := range overlapping {
		m := mask.New(mask.Value(o.secret), mask.Bearer(o.text+o.secret[:7]+"-and-more"))
		run := strings.Repeat(o.text, 300)
		text := "It is " + run + ", " + o.secret + run[:5] + " and " + run[:9] + o.secret + "-and-more."
		for _, size := range []int{1, 2, 3, 4, 7, 63, 64, 65, 1000} {
			if got, want := streamed(m, text, func() int { return size }), m.Text(text); got != want {
				t.Errorf("%s in pieces of %d: got %q, expected %q", name, size, got, want)
			}
		}
	}
}

func TestATextOfOverlappingSecretsTakesLittleMemory(t *testing.T) {
	for name, o := range overlapping {
		m := mask.New(mask.Value(o.secret))
		text := strings.Repeat(o.text, 1<<20/len(o.text))
		var got string
		used := allocated(func() { got = m.Text(text) })
		if got != "[secret]" || used > 10<<20 {
			t.Errorf("%s: %d MiB for %.50q", name, used>>20, got)
		}
	}
}
