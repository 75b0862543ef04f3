package telemetry

import (
	"strconv"
	"strings"
	"testing"
)

// A model may make up any number of names.
func TestDifferentNamesAreLimited(t *testing.T) {
	var n names
	if got := n.of(strings.Repeat("x", maxName+1)); got != other {
		t.Errorf("a long name is %q", got)
	}
	for i := range 2 * maxNames {
		name := strconv.Itoa(i)
		want := name
		if i >= maxNames {
			want = other
		}
		if got := n.of(name); got != want {
			t.Fatalf("name %d is %q, want %q", i, got, want)
		}
	}
	if got := n.of("0"); got != "0" {
		t.Errorf("a known name is %q", got)
	}
}

func BenchmarkOff(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		ToolCall(b.Context(), "resources", "resources_list", 1, "")
	}
}
