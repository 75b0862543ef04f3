package verdict

import "slices"

// Loosened returns what the rules of now alone demand of a call that waits for approvals; nil if that is
// not less than it waits for. now is nil if no rule is about the call: then the hint of its tool decides.
// Rules of which one could not be evaluated demand nothing less: what it would have said is not known.
func Loosened(asks []Approval, now *Verdict, destructive bool) *Verdict {
	var alone Verdict
	switch {
	case now.Holding() || now.Unknown():
		return nil
	case now != nil:
		alone = *now
	case destructive:
		alone = Verdict{Outcome: Ask, Asks: []Approval{{}}}
	default:
		alone = Verdict{Outcome: Allow}
	}
	if alone.Allowing() {
		alone.Asks = nil
		return &alone
	}
	if len(asks) == 0 { // the hint asks
		asks = []Approval{{}}
	}
	if !slices.ContainsFunc(asks, func(a Approval) bool { return !meets(alone.Asks, a) }) {
		return nil
	}
	alone.Asks = slices.Clone(alone.Asks)
	for i := range alone.Asks { // whoever approved the call before has seen these arguments
		alone.Asks[i].Edit, alone.Asks[i].Always = nil, nil
	}
	return &alone
}

// meets reports whether approvals demand what one of them does, or more.
func meets(asks []Approval, a Approval) bool {
	return slices.ContainsFunc(asks, func(b Approval) bool {
		same := b.NotRequester == a.NotRequester && slices.Equal(b.By, a.By)
		anybody := len(a.By) == 0 && !a.NotRequester
		return (same || anybody) && max(b.Count, 1) >= max(a.Count, 1)
	})
}
