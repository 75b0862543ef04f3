package resources

import (
	"strconv"
	"sync/atomic"
	"time"
)

// idSource returns unix nanoseconds as text. Each is greater than the previous one, even if the
// clock stands still or is set back. Another process may return the same number, so an insert
// must retry with another.
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

// timeLayout is RFC 3339 with a fixed number of digits, so that texts sort by time.
const timeLayout = "2006-01-02T15:04:05.000000000Z07:00"

func timeText(t time.Time) string { return t.UTC().Format(timeLayout) }
