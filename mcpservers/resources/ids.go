package resources

import (
	"strconv"
	"sync/atomic"
	"time"
)

// idSource hands out unix nanoseconds as text, each greater than the one before
// even when the clock stands still or steps back. Another process may hand out
// the same number, so an insert must be ready to ask again.
type idSource struct{ last atomic.Int64 }

func (s *idSource) next(now time.Time) string {
	for {
		last := s.last.Load()
		id := max(now.UnixNano(), last+1)
		if s.last.CompareAndSwap(last, id) {
			return strconv.FormatInt(id, 10)
		}
	}
}

// timeLayout is RFC 3339 with a fixed number of digits, so text sorts as time.
const timeLayout = "2006-01-02T15:04:05.000000000Z07:00"

func timeText(t time.Time) string { return t.UTC().Format(timeLayout) }
