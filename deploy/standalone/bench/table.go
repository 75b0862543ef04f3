package main

import (
	"fmt"
	"io"
	"time"
)

// table prints one row for each measurement, as soon as it is known. At the end it prints the
// comparison, and what became of the goals.
type table struct {
	out      io.Writer
	err      error
	compared comparison
	met      int      // goals
	missed   []string // goals that are missed, with what was measured
}

func newTable(out io.Writer) *table {
	t := &table{out: out}
	t.print("%-52s %12s %12s %8s  %s\n", "measurement", "agent", "bare", "ratio", "goal")
	return t
}

func (t *table) print(format string, args ...any) {
	if _, err := fmt.Fprintf(t.out, format, args...); err != nil && t.err == nil {
		t.err = err
	}
}

// ratio prints two numbers side by side. met means that the goal is met.
func (t *table) ratio(name, agent, bare string, ratio float64, goal string, met bool) {
	t.count(goal, met, fmt.Sprintf("%s: %s, ratio %.2f, goal %s", name, agent, ratio, goal))
	t.print("%-52s %12s %12s %8.2f  %s\n", name, agent, bare, ratio, verdict(goal, met))
}

// value prints a number on its own.
func (t *table) value(name, value, goal string, met bool) {
	t.count(goal, met, fmt.Sprintf("%s: %s, goal %s", name, value, goal))
	t.print("%-52s %12s %12s %8s  %s\n", name, value, "", "", verdict(goal, met))
}

// count counts a goal. An empty one is none.
func (t *table) count(goal string, met bool, text string) {
	switch {
	case goal == "":
	case met:
		t.met++
	default:
		t.missed = append(t.missed, text)
	}
}

// end prints what is known only at the end.
func (t *table) end() error {
	t.compared.print(t)
	t.print("\ngoals: %d met, %d missed\n", t.met, len(t.missed))
	for _, text := range t.missed {
		t.print("  missed: %s\n", text)
	}
	return t.err
}

func verdict(goal string, met bool) string {
	switch {
	case goal == "":
		return "stated"
	case met:
		return goal + ": met"
	}
	return goal + ": MISSED"
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }
