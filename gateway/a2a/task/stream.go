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

// Event is an event of a task and its ID.
type Event struct {
	ID    string
	Event a2a.Event
}

// Stream turns successive states of a conversation into the events of a task. It serves one
// reader and is pure: all readers of a task get the same events with the same IDs.
type Stream struct {
	shape Shape
	after *position       // the reader's position, until the first state
	sent  map[uint64]bool // hashes of the entries that were sent
	extra int             // what was sent besides entries: sentNothing and the following

	entries []record.Entry
	firm    int // record.Firm of the entries
	begun   bool
	last    contract.TaskState
	over    bool
}

// NewStream returns a stream that starts with the current task.
func NewStream(o Shape) *Stream { return &Stream{shape: o, sent: map[uint64]bool{}} }

// ResumeStream returns a stream that continues after the event with the given ID. If the
// record has changed too much for that, it starts with the current task.
func ResumeStream(o Shape, after string) (*Stream, error) {
	p, err := parsePosition(after)
	if err != nil {
		return nil, err
	}
	s := NewStream(o)
	s.after = &p
	return s, nil
}

// Over reports whether the task has ended and its last event was returned.
func (s *Stream) Over() bool { return s.over }

// Update returns the events that are new in src.
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
		if s.sent[e.Hash()] || e.mayBeReply(src, i == len(entries)-1) {
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

// begin returns the whole task, unless the reader can continue from its position.
func (s *Stream) begin(src Source, entries []entry) []Event {
	s.begun = true
	if s.after != nil && s.resume(src, entries) {
		return nil
	}
	for _, e := range entries {
		s.markSent(e)
	}
	if s.last = src.View.TaskState(); src.settled() {
		s.extra = sentFinalState
	}
	s.over = s.last.Over()
	return []Event{{s.id(), src.Task(s.shape)}}
}

// resume marks everything up to the reader's position as sent. It returns false if the
// position does not fit the record.
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
	s.extra = s.after.extra
	if now := src.View.TaskState(); s.extra == sentFinalState && src.settled() {
		s.last = now
	}
	if i := s.extra - sentProgress; i >= 0 {
		s.last = progressStates[i]
	}
	return true
}

// skip marks entries that show nothing (a call without a result) as sent, but only those in
// front of an entry that was sent. So the IDs are the same for a reader from the start and
// for one that resumed.
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

// id returns the ID of the event that is about to be sent.
func (s *Stream) id() string {
	s.skip()
	return position{record.CursorOf(s.entries, s.firm, s.sent), s.extra}.String()
}

func (s *Stream) markSent(e entry) {
	s.sent[e.Hash()] = true
	if e.Kind == record.KindMessage || s.extra >= sentProgress { // work goes on
		s.extra = sentNothing
	}
}

// settled reports whether the task changes no more until the client sends a message.
func (s Source) settled() bool {
	state := s.View.TaskState()
	return state.Over() || state == contract.TaskAuthRequired && len(s.pending()) == 0
}

// end returns the artifact and the final state, or a state that no message shows.
func (s *Stream) end(src Source) []Event {
	now := src.View.TaskState()
	defer func() { s.last, s.over = now, now.Over() }()
	if !src.settled() {
		if now == s.last {
			return nil
		}
		s.extra = sentProgress + slices.Index(progressStates, now)
		return []Event{{s.id(), src.update(src.status(s.shape))}}
	}
	if s.extra >= sentProgress {
		s.extra = sentNothing
	}
	var out []Event
	if a := src.artifact(); a != nil && s.extra < sentArtifact {
		s.extra = sentArtifact
		out = append(out, Event{s.id(), &a2a.TaskArtifactUpdateEvent{
			TaskID: src.id(), ContextID: src.context(), Artifact: a, LastChunk: true,
		}})
	}
	if s.extra < sentFinalState {
		s.extra = sentFinalState
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

// entry is an entry of the record and the number of approvals open after it.
type entry struct {
	record.Entry
	open int
}

// entriesOf returns the entries in the order of time. The record orders entries of parallel
// nodes node by node, so new ones may be inserted in the middle.
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

// state returns the state of the task right after the entry.
func (e entry) state() contract.TaskState {
	if e.open > 0 {
		return contract.TaskInputRequired
	}
	return contract.TaskWorking
}

// mayBeReply reports whether the entry may turn out to be the reply, which is sent as the
// artifact.
func (e entry) mayBeReply(src Source, last bool) bool {
	return last && e.Kind == record.KindText && !src.settled()
}

// event returns the event that shows the entry, or nil if none does.
func (e entry) event(src Source, o Shape, last bool) a2a.Event {
	switch {
	case e.Kind == record.KindRequest && last && len(src.pending()) > 0:
		return src.update(src.status(o))
	case e.Kind == record.KindDecision && e.open > 0 && len(src.pending()) == e.open: // other approvals still wait
		return src.update(src.status(o))
	case e.Kind.Notice(), e.Kind == record.KindText && !last:
		status := a2a.TaskStatus{State: states[e.state()], Timestamp: stamp(e.CreatedAt), Message: src.message(e.Message)}
		return src.update(status)
	}
	return nil
}

// What was sent besides entries: parts of the end or, while work goes on, a state that no
// message shows.
const (
	sentNothing = iota
	sentArtifact
	sentFinalState
	sentProgress // + the index in progressStates
)

// progressStates are the states in which work goes on.
var progressStates = []contract.TaskState{contract.TaskSubmitted, contract.TaskWorking, contract.TaskInputRequired, contract.TaskAuthRequired}

// position is how far a reader has come.
type position struct {
	record.Cursor
	extra int
}

// String returns the position as the ID of an event.
func (p position) String() string { return fmt.Sprintf("%d/%s", p.extra, p.Cursor) }

var errPosition = errors.New("this is not the ID of an event")

func parsePosition(s string) (position, error) {
	number, cursor, _ := strings.Cut(s, "/")
	end, err := strconv.Atoi(number)
	if err != nil || end < sentNothing || end >= sentProgress+len(progressStates) {
		return position{}, errPosition
	}
	c, err := record.ParseCursor(cursor)
	return position{c, end}, err
}
