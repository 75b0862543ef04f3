package audit

import "time"

// Lag is how far a witness that is reached by HTTP is behind the log.
type Lag struct {
	Name string
	// Signed is the number of leaves that it is known to have signed, and Leaves of the others.
	Signed, Leaves int64
	// Problem is why, or "" if it has not failed: it is asked a second after an event.
	Problem string
	// Since is since when it has failed, or zero.
	Since time.Time
}

// Lag returns how far the witness with a name is behind. One that was not asked yet has signed nothing.
func (v View) Lag(name string) Lag {
	l := Lag{Name: name, Leaves: v.Head.Size}
	for _, w := range v.Witnesses {
		if w.Name == name {
			l = Lag{Name: name, Signed: w.Size, Leaves: max(v.Head.Size-w.Size, 0), Problem: w.Problem, Since: w.Since}
		}
	}
	if l.Problem != "" && v.Problem != "" { // what waits does so for the signature
		l.Leaves += int64(v.Queued)
	}
	return l
}
