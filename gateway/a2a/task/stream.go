package task

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

// Event is an event of a task with its ID.
type Event struct {
	ID    string
	Event a2a.Event
}

// Stream makes a stream of events of a task: states of the conversation go in, what is
// new in them comes out. It is for one reader, and pure: all readers of a task get
// the same events under the same IDs.
type Stream struct {
	shape  Shape
	after  *position       // where the reader has been, until the first state
	sent   map[uint64]bool // entries, by their hashes
	beside int             // what has been sent besides entries

	entries []record.Entry
	firm    int // record.Firm of them
	begun   bool
	last    contract.TaskState
	over    bool
}

// NewStream makes a stream that begins with the task as it is.
func NewStream(o Shape) *Stream { return &Stream{shape: o, sent: map[uint64]bool{}} }

// ResumeStream makes a stream that goes on behind the event with an ID. Where that is not possible any more,
// it begins with the task as it is.
func ResumeStream(o Shape, after string) (*Stream, error) {
	p, err := parsePosition(after)
	if err != nil {
		return nil, err
	}
	s := NewStream(o)
	s.after = &p
	return s, nil
}

// Over reports whether the task has ended, and the reader knows.
func (s *Stream) Over() bool { return s.over }

// Update returns what is new.
func (s *Stream) Update(src Source) []Event {
	if s.over {
		return nil
	}
	s.entries = src.Entries()
	s.firm = record.Firm(s.entries, src.Parallel())
	entries := entriesOf(s.entries)
	var out []Event
	if !s.begun {
		out = s.begin(src, entries)
	}
	for i, e := range entries {
		if s.sent[e.Hash()] || e.held(src, i == len(entries)-1) {
			continue
		}
		s.markSent(e)
		if event := e.event(src, s.shape, i == len(entries)-1); event != nil {
			out = append(out, Event{s.id(), event})
			s.last = stateIn(event, s.last)
		}
	}
	return append(out, s.end(src)...)
}

// begin sends the whole task, unless the reader can go on where it was.
func (s *Stream) begin(src Source, entries []entry) []Event {
	s.begun = true
	if s.after != nil && s.resume(src, entries) {
		return nil
	}
	for _, e := range entries {
		s.markSent(e)
	}
	if s.last = src.View.TaskState(); settled(s.last) {
		s.beside = endState
	}
	s.over = s.last.Over()
	return []Event{{s.id(), src.Task(s.shape)}}
}

// resume takes what was sent up to the position as sent.
func (s *Stream) resume(src Source, entries []entry) bool {
	sent, ok := s.after.Seen(s.entries)
	if !ok {
		return false
	}
	s.last = contract.TaskSubmitted
	for _, e := range entries {
		if sent[e.Hash()] {
			s.markSent(e)
			s.last = e.state()
		}
	}
	s.beside = s.after.end
	if now := src.View.TaskState(); s.beside == endState && settled(now) {
		s.last = now
	}
	if beside := s.beside - endBeside; beside >= 0 {
		s.last = besides[beside]
	}
	return true
}

// skip takes as sent what shows nothing (that a call will not have a result), but only in front
// of what was sent: a reader from the start must have no other IDs than one who was there.
func (s *Stream) skip() {
	last := len(s.entries) - 1
	for last >= 0 && !s.sent[s.entries[last].Hash()] {
		last--
	}
	for _, e := range s.entries[:last+1] {
		if e.Missing {
			s.sent[e.Hash()] = true
		}
	}
}

// id is that of the event that is about to be sent.
func (s *Stream) id() string {
	s.skip()
	return position{record.CursorOf(s.entries, s.firm, s.sent), s.beside}.String()
}

func (s *Stream) markSent(e entry) {
	s.sent[e.Hash()] = true
	if e.Kind == record.KindMessage || s.beside >= endBeside { // work goes on
		s.beside = endNone
	}
}

// settled reports whether nothing more comes unless the client does something.
func settled(s contract.TaskState) bool { return s.Over() || s == contract.TaskAuthRequired }

// end sends the result and the final state, or a state that no message shows.
func (s *Stream) end(src Source) []Event {
	now := src.View.TaskState()
	defer func() { s.last, s.over = now, now.Over() }()
	if !settled(now) {
		if now == s.last {
			return nil
		}
		s.beside = endBeside + slices.Index(besides, now)
		return []Event{{s.id(), src.update(src.status(s.shape))}}
	}
	if s.beside >= endBeside {
		s.beside = endNone
	}
	var out []Event
	if a := src.artifact(); a != nil && s.beside < endArtifact {
		s.beside = endArtifact
		out = append(out, Event{s.id(), &a2a.TaskArtifactUpdateEvent{
			TaskID: src.id(), ContextID: src.context(), Artifact: a, LastChunk: true,
		}})
	}
	if s.beside < endState {
		s.beside = endState
		out = append(out, Event{s.id(), src.update(src.status(s.shape))})
	}
	return out
}

func stateIn(e a2a.Event, last contract.TaskState) contract.TaskState {
	if u, ok := e.(*a2a.TaskStatusUpdateEvent); ok {
		last, _ = StateNamed(u.Status.State)
	}
	return last
}

func (s Source) update(status a2a.TaskStatus) *a2a.TaskStatusUpdateEvent {
	return &a2a.TaskStatusUpdateEvent{TaskID: s.id(), ContextID: s.context(), Status: status}
}

// entry is an entry of the record, and what it shows of the task.
type entry struct {
	record.Entry
	open int // approvals that wait behind it
}

// entriesOf are the entries in the order of time. In the record those of nodes side by side
// stand node by node, so that new ones come in between.
func entriesOf(entries []record.Entry) []entry {
	entries = slices.SortedStableFunc(slices.Values(entries), func(a, b record.Entry) int {
		return a.CreatedAt.Compare(b.CreatedAt)
	})
	open := 0
	var out []entry
	for _, e := range entries {
		if e.Missing {
			continue
		}
		switch e.Kind {
		case record.KindDecision:
			open = max(open-1, 0)
		case record.KindRequest:
			open++
		case record.KindMessage:
			open = 0
		}
		out = append(out, entry{e, open})
	}
	return out
}

// state is that of the task when the message has been written.
func (e entry) state() contract.TaskState {
	if e.open > 0 {
		return contract.TaskInputRequired
	}
	return contract.TaskWorking
}

// held reports whether the message may be the reply: then the artifact shows it.
func (e entry) held(src Source, last bool) bool {
	return last && e.Kind == record.KindText && !settled(src.View.TaskState())
}

// event is nil for what shows nothing.
func (e entry) event(src Source, o Shape, last bool) a2a.Event {
	switch {
	case e.Kind == record.KindRequest && last && len(src.pending()) > 0:
		return src.update(src.status(o))
	case e.Kind == record.KindDecision && e.open > 0 && len(src.pending()) == e.open: // others wait still
		return src.update(src.status(o))
	case e.Kind.Notice(), e.Kind == record.KindText && !last:
		status := a2a.TaskStatus{State: states[e.state()], Timestamp: stamp(e.CreatedAt), Message: src.message(e.Message)}
		return src.update(status)
	}
	return nil
}

// What has been sent besides messages: of the end, or, while work goes on, a state that
// no message shows.
const (
	endNone = iota
	endArtifact
	endState
	endBeside // + the index in besides
)

// besides are the states in which work goes on.
var besides = []contract.TaskState{contract.TaskSubmitted, contract.TaskWorking, contract.TaskInputRequired}

// position is what a reader has received.
type position struct {
	record.Cursor
	end int
}

// String is the position as the ID of an event.
func (p position) String() string { return fmt.Sprintf("%d/%s", p.end, p.Cursor) }

var errPosition = errors.New("this is not the ID of an event")

func parsePosition(s string) (position, error) {
	number, cursor, _ := strings.Cut(s, "/")
	end, err := strconv.Atoi(number)
	if err != nil || end < endNone || end >= endBeside+len(besides) {
		return position{}, errPosition
	}
	c, err := record.ParseCursor(cursor)
	return position{c, end}, err
}
