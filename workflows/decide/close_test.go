package decide_test

import (
	"testing"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/decide"
)

func TestCloses(t *testing.T) {
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		since time.Time
		idle  bool
		want  bool
	}{
		"an unconditional signal always closes": {want: true},
		"an idle conversation that is as old":   {since: at, idle: true, want: true},
		"an idle conversation that is older":    {since: at.Add(time.Second), idle: true, want: true},
		"one that has changed stays open":       {since: at.Add(-time.Second), idle: true},
		"one with a turn stays open":            {since: at.Add(time.Hour)},
	} {
		if got := decide.Closes(contract.CloseSignal{UnchangedSince: c.since}, c.idle, at); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
