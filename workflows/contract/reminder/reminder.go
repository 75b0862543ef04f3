// Package reminder has the times at which people are reminded of an approval that waits.
package reminder

import (
	"fmt"
	"slices"
	"time"
)

// Memo is the memo key of an Approval with the times at which it has reminded: a []time.Time.
const Memo = "reminded"

// The bounds of a Plan.
const (
	Max   = 10
	Least = time.Second
)

// Plan is how long after its opening an approval reminds, in nanoseconds, the soonest first.
type Plan []time.Duration

// Check fails for a plan that no approval can follow. expires is when the approval ends, or 0.
func (p Plan) Check(expires time.Duration) error {
	if len(p) > Max {
		return fmt.Errorf("must have at most %d times", Max)
	}
	for i, d := range p {
		switch {
		case d < Least:
			return fmt.Errorf("%s: must be at least %s", d, Least)
		case i > 0 && d <= p[i-1]:
			return fmt.Errorf("%s comes after %s: must be in order, each time once", d, p[i-1])
		case expires > 0 && d >= expires:
			return fmt.Errorf("%s: the approval expires after %s", d, expires)
		}
	}
	return nil
}

// Merge returns a plan with the times of both, of more than Max the soonest.
func (p Plan) Merge(other Plan) Plan {
	all := slices.Concat(p, other)
	slices.Sort(all)
	all = slices.Compact(all)
	return all[:min(len(all), Max)]
}

// Due returns how many reminders are due after a time of waiting.
func (p Plan) Due(waited time.Duration) int {
	n := 0
	for n < len(p) && p[n] <= waited {
		n++
	}
	return n
}

// Reminder is one that an Approval has sent.
type Reminder struct {
	// Number is its place in the plan, from 1, and Of the length of the plan.
	Number int       `json:"number"`
	Of     int       `json:"of"`
	At     time.Time `json:"at"`
	// Tool is what waits, and Since when.
	Tool  string    `json:"tool,omitempty"`
	Since time.Time `json:"since,omitzero"`
}
