package verdict

import "slices"

// Via is through what an approval ends that the rules of the agent refuse while it waits.
const Via = "policy"

// Tightened returns what a call needs that waits for approvals and is judged by other rules now: nil
// if they demand nothing more. What the earlier rules demanded stays, so that a change of the rules
// releases nothing.
func Tightened(asks []Approval, now *Verdict) *Verdict {
	switch {
	case now == nil || now.Allowing():
		return nil
	case now.Holding():
		return now
	}
	out, more := *now, false
	out.Asks = slices.Clone(asks)
	for _, a := range now.Asks {
		i := slices.IndexFunc(out.Asks, func(b Approval) bool { return b.NotRequester == a.NotRequester && slices.Equal(b.By, a.By) })
		switch {
		case i < 0 && len(a.By) == 0 && !a.NotRequester && a.Count <= 1: // anybody is asked already
		case i < 0:
			out.Asks, more = append(out.Asks, a), true
		case a.Count > max(out.Asks[i].Count, 1):
			out.Asks[i].Count, more = a.Count, true
		}
	}
	if !more {
		return nil
	}
	for i := range out.Asks { // a changed call would be judged by the rules of now alone
		out.Asks[i].Edit, out.Asks[i].Always = nil, nil
	}
	return &out
}
