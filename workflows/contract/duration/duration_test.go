package duration_test

import (
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract/duration"
)

func TestDurationsMayHaveDaysAndWeeks(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"90d": 90 * day, "2w": 14 * day, "1w2d3h4m": 9*day + 3*time.Hour + 4*time.Minute, "1d12h": 36 * time.Hour, "-1d12h": -36 * time.Hour,
		"0d": 0, "720h": 720 * time.Hour, "1.5h": 90 * time.Minute, "0": 0, "-5s": -5 * time.Second, "+2d": 2 * day, "20ms": 20 * time.Millisecond,
	} {
		if got, err := duration.Parse(text); err != nil || got != want {
			t.Errorf("%s: got %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "d", "1.5d", "2d1w", "1d-2h", "--1d", "1d2d", "90", "1 d", "99999999999w", "4000000000w", "15251w", "106751d24h"} {
		if got, err := duration.Parse(text); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}

func TestADurationIsAFlag(t *testing.T) {
	var v duration.Value
	if err := v.Set("2d"); err != nil || v.String() != "48h0m0s" {
		t.Errorf("got %v, %v", v.String(), err)
	}
	if err := v.Set("tomorrow"); err == nil {
		t.Error("no error")
	}
}
