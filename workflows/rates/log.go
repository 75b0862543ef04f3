package rates

import (
	"slices"
	"time"

	"agent-stop-and-go/workflows/contract/rates"
)

// grace is how long after its time the place of a call is kept that has not asked again. Then those
// behind it go on.
const grace = time.Minute

// log has the calls that count, in the order of their times, and those that wait, in the order in
// which they go on. The time of one that waits is when it is to ask again.
type log struct {
	counted, waiting []rates.Counted
}

// prune drops what no longer counts, and places that nobody has used.
func (l *log) prune(now time.Time, window time.Duration) {
	l.counted = slices.DeleteFunc(l.counted, func(e rates.Counted) bool { return !counts(e, now, window) })
	l.waiting = slices.DeleteFunc(l.waiting, func(e rates.Counted) bool { return e.At.Before(now.Add(-grace)) })
}

func counts(e rates.Counted, now time.Time, window time.Duration) bool {
	return e.At.After(now.Add(-window))
}

func find(all []rates.Counted, key string) int {
	return slices.IndexFunc(all, func(e rates.Counted) bool { return e.Key == key })
}

// remove takes back a call that was not made.
func (l *log) remove(key string) {
	is := func(e rates.Counted) bool { return e.Key == key }
	l.counted, l.waiting = slices.DeleteFunc(l.counted, is), slices.DeleteFunc(l.waiting, is)
}

// take counts a call, or gives it a place, or refuses it.
func (l *log) take(t rates.Take, now time.Time) rates.Outcome {
	if i := find(l.counted, t.Key); i >= 0 && counts(l.counted[i], now, t.In) {
		return rates.Outcome{Room: true}
	}
	place := find(l.waiting, t.Key)
	waits := place >= 0
	if !waits {
		place = len(l.waiting)
	}
	free := l.free(place, t, now)
	switch {
	case t.Over || !free.After(now):
		l.remove(t.Key)
		l.counted = append(l.counted, rates.Counted{Key: t.Key, At: now})
		return rates.Outcome{Room: true, New: true}
	case t.Wait && waits:
		l.waiting[place].At = free
		return rates.Outcome{Waits: true, At: free}
	case t.Wait && len(l.waiting) < rates.MaxWaiting:
		l.waiting = append(l.waiting, rates.Counted{Key: t.Key, At: free})
		return rates.Outcome{Waits: true, At: free}
	}
	return rates.Outcome{At: free}
}

// free returns when there is room for a call with so many that wait before it: now, or the time at
// which the last of the calls before it that may run together no longer counts.
func (l *log) free(before int, t rates.Take, now time.Time) time.Time {
	var times []time.Time
	for _, e := range l.counted {
		if counts(e, now, t.In) {
			times = append(times, e.At)
		}
	}
	for range before + 1 {
		next := now
		if n := len(times) - t.Calls; n >= 0 && times[n].Add(t.In).After(now) {
			next = times[n].Add(t.In)
		}
		times = append(times, next)
	}
	return times[len(times)-1]
}
