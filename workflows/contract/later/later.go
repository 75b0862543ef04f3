// Package later has what people put off: an approval that somebody does not want to decide now.
// It still waits, for that person too, expires when it would, and anybody may decide it; it only
// comes back into sight at a time that the person chose.
package later

import (
	"fmt"
	"slices"
	"time"
)

// Update is the update of an Approval with which somebody puts it off. Its argument is a
// Deferral; it is refused with KindInvalid or KindDecided. Memo is the memo key of an Approval
// with its List.
const (
	Update = "later"
	Memo   = "later"
)

// The bounds of what an approval keeps.
const (
	MaxTime   = 30 * 24 * time.Hour
	MaxPeople = 64
)

// Deferral is until when somebody put an approval off.
type Deferral struct {
	// Subject is the Key of a contract.Identity, "" for all callers of an agent that asks nobody
	// who they are.
	Subject string `json:"subject"`
	// Until is zero to have it back at once.
	Until time.Time `json:"until,omitzero"`
}

// Check returns an error in words if the time is too far away.
func (d Deferral) Check(now time.Time) error {
	if d.Until.Sub(now) > MaxTime {
		return fmt.Errorf("an approval can be put off for %d days at most", MaxTime/(24*time.Hour))
	}
	return nil
}

// List is the deferrals of an approval.
type List []Deferral

// Put returns the list with another deferral in place of the same person's, and without those
// that are over. Of more than MaxPeople it keeps those that end last.
func (l List) Put(d Deferral, now time.Time) List {
	next := slices.DeleteFunc(slices.Clone(l), func(x Deferral) bool { return x.Subject == d.Subject || !x.Until.After(now) })
	if d.Until.After(now) {
		next = append(next, d)
	}
	slices.SortStableFunc(next, func(a, b Deferral) int { return b.Until.Compare(a.Until) })
	return next[:min(len(next), MaxPeople)]
}

// Of returns until when somebody put it off, nil if it is in sight.
func (l List) Of(subject string, now time.Time) *time.Time {
	for _, d := range l {
		if d.Subject == subject && d.Until.After(now) {
			return &d.Until
		}
	}
	return nil
}
