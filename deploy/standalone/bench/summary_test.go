package main

import (
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/config"
)

// measuredResult has turns of the given time, that many in a second by many clients.
func measuredResult(name string, took time.Duration, rates ...int64) result {
	f := figures{alone: []time.Duration{took, took}, aloneCPU: 2 * took}
	for _, rate := range rates {
		f.crowds = append(f.crowds, flow{turns: rate, took: time.Second, cpu: time.Duration(rate) * took, slowest: time.Duration(rate) * time.Second})
	}
	return result{name: name, list: f, approval: f, decision: f.alone, resident: 300 << 20}
}

func TestTheComparisonPrintsATableRatiosAndGoals(t *testing.T) {
	var out strings.Builder
	table := newTable(&out)
	usual := string(config.Default().Execution)
	table.compared = comparison{clients: 100, paused: 1000, results: []result{
		measuredResult(usual, 15*time.Millisecond, 80, 60, 1), measuredResult(yardstick, 10*time.Millisecond, 90, 100, 110),
	}}
	if err := table.end(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| " + usual + " | 15.0 ms / 15.0 ms | 15.0 ms | 60.0 /s | 15.0 ms / 15.0 ms | 15.0 ms (15.0 ms) | 60.0 /s | 300 MiB |\n",
		"| " + usual + " | 1.50 / 1.50 | 1.50 | 0.60 | 1.50 / 1.50 | 1.50 | 0.60 | 1.00 |\n",
		usual + ": approval, 100 clients, slowest                   80000.0 ms  110000.0 ms     0.73  stated\n",
		"goals: 3 met, 2 missed\n",
		"  missed: " + usual + ": list turn, 1 client, median: 15.0 ms, ratio 1.50, goal ≤ 1.30\n",
		"  missed: " + usual + ": list turn, 100 clients, turns/s: 60.0 /s, ratio 0.60, goal ≥ 0.75\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing", want)
		}
	}
	if t.Failed() {
		t.Log(out.String())
	}
}

func TestOnlyTheDefaultModeHasGoals(t *testing.T) {
	var out strings.Builder
	table := newTable(&out)
	table.compared = comparison{results: []result{measuredResult(yardstick, time.Millisecond, 100)}}
	for _, mode := range modes {
		if mode != config.Default().Execution {
			table.compared.results = append(table.compared.results, measuredResult(string(mode), time.Second, 1))
		}
	}
	if err := table.end(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "goals: 0 met, 0 missed\n") {
		t.Error(out.String())
	}
}

func TestATableOfPartsAloneHasNoComparison(t *testing.T) {
	var out strings.Builder
	if err := newTable(&out).end(); err != nil || strings.Contains(out.String(), "|") {
		t.Error(out.String(), err)
	}
}
