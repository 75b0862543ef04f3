package backtest

// Report counts calls.
type Report struct {
	Conversations int          `json:"conversations"`
	Calls         int          `json:"calls"`
	Changes       map[Kind]int `json:"changes"`
	// MayLoosen counts the unclear changes that can be to a less careful outcome.
	MayLoosen int `json:"may_loosen"`
	// Rules counts the calls that each rule decides about, before and after; "" are the hints of
	// the tools.
	Rules map[string]Count `json:"rules"`
	// Missing counts the calls whose outcome depends on something that is not known, by what
	// that is.
	Missing map[string]int `json:"missing,omitempty"`
	// Unreadable counts recordings that could not be read.
	Unreadable int `json:"unreadable,omitempty"`
}

// Count is a number of calls before and after.
type Count struct {
	Before int `json:"before"`
	After  int `json:"after"`
}

// Add counts a call.
func (r *Report) Add(c Change) {
	if r.Changes == nil {
		r.Changes, r.Rules, r.Missing = map[Kind]int{}, map[string]Count{}, map[string]int{}
	}
	r.Calls++
	r.Changes[c.Kind]++
	if c.MayLoosen {
		r.MayLoosen++
	}
	before, after := r.Rules[c.Before.Rule], r.Rules[c.After.Rule]
	before.Before++
	r.Rules[c.Before.Rule] = before
	after = r.Rules[c.After.Rule]
	after.After++
	r.Rules[c.After.Rule] = after
	if c.Kind != Unclear {
		return
	}
	missing := map[string]bool{}
	for _, s := range []Side{c.Before, c.After} {
		for _, o := range s.Open {
			for _, m := range o.Missing {
				missing[m] = true
			}
		}
		if s.Outcome == Hints {
			missing["annotations"] = true
		}
	}
	for m := range missing {
		r.Missing[m]++
	}
}

// Failing counts the changes of a kind. Those that may loosen count as loosened.
func (r Report) Failing(k Kind) int {
	n := r.Changes[k]
	if k == Loosened {
		n += r.MayLoosen
	}
	return n
}
