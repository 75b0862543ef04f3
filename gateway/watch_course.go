package gateway

import (
	"bytes"
	"slices"

	"agent-stop-and-go/gateway/agui"
	"agent-stop-and-go/workflows/contract"
)

// course is how several readers of one conversation are told the same: events are made
// and encoded once for all of them. The watcher's mu guards it.
type course struct {
	stream  *agui.Stream
	readers map[*reader]struct{}
}

// maxCourses: there is more than one where readers have come back in different ways.
const maxCourses = 4

// enroll puts a reader into a course, which goes on where its stream is. It returns
// false when there is none, or when the reader was told something meanwhile.
func (x *watcher) enroll(r *reader, s *agui.Stream) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, here := x.readers[r]; !here || !r.current() {
		return false
	}
	at := slices.IndexFunc(x.courses, func(c *course) bool { return c.stream.Adopt(s) })
	if at < 0 {
		if len(x.courses) == maxCourses {
			return false
		}
		at = len(x.courses)
		x.courses = append(x.courses, &course{stream: s, readers: map[*reader]struct{}{}})
	}
	r.course = x.courses[at]
	r.course.readers[r] = struct{}{}
	return true
}

// leaveCourse ends a course after its last reader. The caller holds mu.
func (x *watcher) leaveCourse(r *reader) {
	if r.course == nil {
		return
	}
	delete(r.course.readers, r)
	x.courses = slices.DeleteFunc(x.courses, func(c *course) bool { return len(c.readers) == 0 })
	r.course = nil
}

// tell wakes the readers only when there is something to write.
func (c *course) tell(i item) {
	b, err := c.block(i)
	for r := range c.readers {
		switch {
		case err != nil:
			r.end(err)
		case b.over || len(b.data) > 0:
			r.tell(item{block: b})
		}
	}
}

func (c *course) block(i item) (*block, error) {
	var events []agui.Event
	b := &block{}
	switch {
	case i.state != nil:
		events = c.stream.Update(*i.state)
		b.over = i.state.Document.Status == contract.StatusCompleted
	case i.draft != nil:
		events = c.stream.Draft(*i.draft)
	case i.delta != nil:
		events = c.stream.Delta(*i.delta)
	}
	var err error
	b.open = c.stream.Open()
	b.data, err = encode(events)
	b.head = headOf(events, b.data)
	return b, err
}

// block is what the readers of a course are told, as it is written. Nobody may change
// it.
type block struct {
	data []byte
	head int  // the length of what is in front of the text, if it is one piece of a text
	open bool // a run is open then
	over bool // nothing comes after it
}

const (
	deltaKey = `"delta":"`
	deltaEnd = "\"}\n\n" // delta is the last member
)

func headOf(events []agui.Event, data []byte) int {
	if len(events) != 1 || events[0].ID != "" {
		return 0
	}
	switch events[0].Data.(type) {
	case agui.Piece, agui.CallArgs: // within a string the key would be escaped
		return bytes.Index(data, []byte(deltaKey)) + len(deltaKey)
	}
	return 0
}

// join makes one piece of two, or returns nil.
func (b *block) join(next *block) *block {
	if b.head == 0 || b.head != next.head || len(b.data)+len(next.data) > maxPiece ||
		!bytes.Equal(b.data[:b.head], next.data[:b.head]) {
		return nil
	}
	joined := *next
	joined.data = slices.Concat(b.data[:len(b.data)-len(deltaEnd)], next.data[next.head:])
	return &joined
}
