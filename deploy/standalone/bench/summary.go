package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"agent-stop-and-go/config"
	"agent-stop-and-go/deploy/standalone/bench/floor"
	"agent-stop-and-go/workflows/contract"
)

// comparison has the results of servers that were measured side by side.
type comparison struct {
	results []result
	clients int // that are many
	paused  int // approvals
}

// yardstick is the floor that the modes are compared with: a floor with local model calls.
const yardstick = floor.ModelLocal

// The goals of the default settings, as ratios to the yardstick: latency at most, turns per second at least.
const (
	listLatency     = 1.3
	listFlow        = .75
	approvalLatency = 2
	approvalFlow    = .55
)

// print prints all results, their ratios to the yardstick, and the goals.
func (c comparison) print(t *table) {
	if len(c.results) == 0 {
		return
	}
	t.print("\n| | CPU/turn, 1 client / %[1]d | list turn, 1 client | list turns, %[1]d clients | CPU/approval, 1 client / %[1]d "+
		"| approval, 1 client (decision) | approvals, %[1]d clients | RSS, %[2]d paused |\n|%[3]s\n",
		c.clients, c.paused, strings.Repeat(" --- |", 8))
	for _, r := range c.results {
		t.print("| %s | %s | %s | %s | %s | %s (%s) | %s | %d MiB |\n", r.name,
			r.list.cpu(), ms(r.list.median()), r.list.rate(),
			r.approval.cpu(), ms(r.approval.median()), ms(quantile(r.decision, .5)), r.approval.rate(), r.resident>>20)
	}
	base, ok := c.named(yardstick)
	if !ok {
		return
	}
	t.print("\n| ratio to *%s* | CPU/turn, 1 client / %[2]d | list turn | list turns/s | CPU/approval, 1 client / %[2]d | approval | approvals/s | RSS |\n|%[3]s\n",
		yardstick, c.clients, strings.Repeat(" --- |", 8))
	for _, r := range c.results {
		list, approval := r.list.over(base.list), r.approval.over(base.approval)
		t.print("| %s | %.2f / %.2f | %.2f | %.2f | %.2f / %.2f | %.2f | %.2f | %.2f |\n", r.name,
			list.aloneCPU, list.crowdCPU, list.median, list.flow,
			approval.aloneCPU, approval.crowdCPU, approval.median, approval.flow, float64(r.resident)/float64(base.resident))
	}
	t.print("\n")
	c.goals(t, base)
}

// goals prints the goals, which are those of the default settings, and beside them the same of
// the other modes.
func (c comparison) goals(t *table, base result) {
	for _, mode := range modes {
		r, ok := c.named(string(mode))
		if !ok {
			continue
		}
		g := modeGoals{t: t, mode: mode, clients: c.clients}
		g.add("list turn", r.list, base.list, listLatency, listFlow)
		g.add("approval", r.approval, base.approval, approvalLatency, approvalFlow)
		resident := int(r.resident >> 20)
		t.value(fmt.Sprintf("%s: resident memory, %d paused approvals", mode, c.paused), fmt.Sprintf("%d MiB", resident),
			g.text("≤ %d MiB", pausedGoal), resident <= pausedGoal)
	}
}

// modeGoals prints the goals of one mode.
type modeGoals struct {
	t       *table
	mode    contract.Execution
	clients int
}

func (g modeGoals) add(name string, f, base figures, latency, flow float64) {
	r := f.over(base)
	g.t.ratio(fmt.Sprintf("%s: %s, %d clients, CPU", g.mode, name, g.clients), ms(f.cpuCrowded()), ms(base.cpuCrowded()), r.crowdCPU, "", true)
	g.t.ratio(fmt.Sprintf("%s: %s, 1 client, median", g.mode, name), ms(f.median()), ms(base.median()), r.median, g.text("≤ %.2f", latency), r.median <= latency)
	g.t.ratio(fmt.Sprintf("%s: %s, %d clients, turns/s", g.mode, name, g.clients), f.rate(), base.rate(), r.flow, g.text("≥ %.2f", flow), r.flow >= flow)
	g.t.ratio(fmt.Sprintf("%s: %s, %d clients, slowest", g.mode, name, g.clients), ms(f.slowest()), ms(base.slowest()), r.slowest, "", true)
}

// text is the text of a goal, if the mode is the default.
func (g modeGoals) text(format string, limit any) string {
	if g.mode != config.Default().Execution {
		return ""
	}
	return fmt.Sprintf(format, limit)
}

func (c comparison) named(name string) (result, bool) {
	for _, r := range c.results {
		if r.name == name {
			return r, true
		}
	}
	return result{}, false
}

func (f figures) median() time.Duration { return quantile(f.alone, .5) }

func (f figures) cpuAlone() time.Duration { return f.aloneCPU / time.Duration(max(len(f.alone), 1)) }

func (f figures) cpuCrowded() time.Duration { return f.crowd().cpuPerTurn() }

// slowest returns the time of the slowest turn of many clients: if nothing went on for a while, it tells.
func (f figures) slowest() time.Duration { return f.crowd().slowest }

// crowd returns the sum of the rounds.
func (f figures) crowd() (sum flow) {
	for _, c := range f.crowds {
		sum = sum.plus(c)
	}
	return sum
}

// perSecond returns the median of the rounds, so that a single turn that is stuck for seconds
// spoils no more than its round.
func (f figures) perSecond() float64 {
	rates := make([]float64, len(f.crowds))
	for i, c := range f.crowds {
		rates[i] = c.perSecond()
	}
	slices.Sort(rates)
	if len(rates) == 0 {
		return 0
	}
	return rates[len(rates)/2]
}

func (f figures) rate() string { return fmt.Sprintf("%.1f /s", f.perSecond()) }

// cpu is the processor time of a turn by one client, and by many.
func (f figures) cpu() string {
	return fmt.Sprintf("%s / %s", ms(f.cpuAlone()), ms(f.cpuCrowded()))
}

// ratios are figures relative to others.
type ratios struct{ aloneCPU, crowdCPU, median, flow, slowest float64 }

func (f figures) over(g figures) ratios {
	return ratios{
		aloneCPU: float64(f.cpuAlone()) / float64(g.cpuAlone()),
		crowdCPU: float64(f.cpuCrowded()) / float64(g.cpuCrowded()),
		median:   float64(f.median()) / float64(g.median()),
		flow:     f.perSecond() / g.perSecond(),
		slowest:  float64(f.slowest()) / float64(g.slowest()),
	}
}
