package auditor

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/audit"
	"agent-stop-and-go/workflows/contract/verdict"
)

// Quick is the time under which a decision can hardly have been thought about.
const Quick = 2 * time.Second

// Figures are those of one approver.
type Figures struct {
	Approver string `json:"approver"`
	Channel  string `json:"channel"`
	Approved int    `json:"approved"`
	Rejected int    `json:"rejected"`
	// Median and P90 are times from the opening of an approval to its decision, in seconds.
	Median float64 `json:"median_seconds"`
	P90    float64 `json:"p90_seconds"`
	// Quick is the share of decisions under two seconds.
	Quick float64 `json:"quick_share"`
}

// Oversight is how people decide.
type Oversight struct {
	Approvers []Figures `json:"approvers"`
	// Expired and Cancelled count approvals that nobody has decided.
	Expired   int `json:"expired"`
	Cancelled int `json:"cancelled"`
	// Open counts approvals without an end.
	Open int `json:"open"`
}

// FiguresOf counts the decisions since a time.
func FiguresOf(leaves []audit.Leaf, since time.Time) Oversight {
	var out Oversight
	shown, times, all := map[string]audit.Leaf{}, map[string][]time.Duration{}, map[string]*Figures{}
	for _, l := range leaves {
		if l.At.Before(since) {
			continue
		}
		if l.Kind == audit.KindShown && l.Reason != contract.ReasonPaused {
			shown[l.Approval] = l
		}
		opened, there := shown[l.Approval]
		if l.Kind != audit.KindDecision || !there || l.Actor != nil && l.Actor.Channel == verdict.Via {
			continue
		}
		delete(shown, l.Approval)
		switch l.Decision {
		case contract.Expired:
			out.Expired++
			continue
		case contract.Approved, contract.Rejected:
		default:
			out.Cancelled++
			continue
		}
		key := l.Actor.Name() + "\n" + l.Actor.Channel
		if all[key] == nil {
			all[key] = &Figures{Approver: l.Actor.Name(), Channel: l.Actor.Channel}
		}
		if l.Decision == contract.Approved {
			all[key].Approved++
		} else {
			all[key].Rejected++
		}
		times[key] = append(times[key], l.At.Sub(opened.At))
	}
	out.Open = len(shown)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		f, t := all[key], times[key]
		slices.Sort(t)
		f.Median, f.P90 = t[(len(t)-1)/2].Seconds(), t[(len(t)-1)*9/10].Seconds()
		quick, _ := slices.BinarySearchFunc(t, Quick, cmp.Compare[time.Duration])
		f.Quick = float64(quick) / float64(len(t))
		out.Approvers = append(out.Approvers, *f)
	}
	return out
}
