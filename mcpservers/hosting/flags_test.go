package hosting_test

import (
	"testing"
	"time"

	"agent-stop-and-go/mcpservers/hosting"

	"gopkg.in/yaml.v3"
)

func TestASpanMayHaveDaysAndWeeks(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"90d": 90 * day, "2w": 14 * day, "1w2d3h4m": 9*day + 3*time.Hour + 4*time.Minute, "1d12h": 36 * time.Hour,
		"0d": 0, "720h": 720 * time.Hour, "1.5h": 90 * time.Minute, "-5s": -5 * time.Second, "20ms": 20 * time.Millisecond,
	} {
		var flag, file hosting.Span
		if err := flag.Set(text); err != nil || flag != hosting.Span(want) {
			t.Errorf("--session-idle %s: got %v, %v", text, &flag, err)
		}
		if err := yaml.Unmarshal([]byte(text), &file); err != nil || file != hosting.Span(want) {
			t.Errorf("session_idle: %s: got %v, %v", text, &file, err)
		}
	}
	for _, text := range []string{"tomorrow", "d", "1.5d", "2d1w", "1d-2h", "--1d", "1d2d", "90", "1 d", "99999999999w", "1d\n", "[1d]"} {
		var flag, file hosting.Span
		if flag.Set(text) == nil {
			t.Errorf("--session-idle %q: got %v, want an error", text, &flag)
		}
		if yaml.Unmarshal([]byte(text), &file) == nil && text != "1d\n" { // a line of a file ends so
			t.Errorf("session_idle: %q: got %v, want an error", text, &file)
		}
	}
}
