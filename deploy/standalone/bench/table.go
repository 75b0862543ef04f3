package main

import (
	"fmt"
	"io"
	"time"
)

// table prints one row for each measurement, as soon as it is known.
type table struct {
	out io.Writer
	err error
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
	t.print("%-52s %12s %12s %8.2f  %s\n", name, agent, bare, ratio, verdict(goal, met))
}

// value prints a number on its own.
func (t *table) value(name, value, goal string, met bool) {
	t.print("%-52s %12s %12s %8s  %s\n", name, value, "", "", verdict(goal, met))
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
