package agui

import (
	"encoding/json"
	"fmt"
	"slices"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

// Options say for whom a Stream is.
type Options struct {
	ThreadID string
	// RunID is that of the first run. Without one it is derived, as those of all other
	// runs are: "run-" and the ID of the message that began it.
	RunID string
	// Known reports which messages the client holds already, by AG-UI ID. It must hold
	// all of them: for a reader whose last stream broke off, set Snapshot as well.
	Known func(id string) bool
	// Answered is the result of a call, by AG-UI ID, that the client holds in a message of
	// its own. Where it is what the call came to, it is not sent again; where
	// it is not the client's message is taken back.
	Answered func(toolCallID string) (text string, ok bool)
	// State is the front end's own state. An object comes back in snapshots; what is no
	// object has no room for the agent's state, which the client does not get then.
	State json.RawMessage
	// After is what the reader has received; the zero value is nothing.
	After Position
	// Snapshot: begin with all messages at once instead of one by one.
	Snapshot bool
}

func (o Options) knows(id string) bool { return o.Known != nil && o.Known(id) }

// holds reports whether the client has an item already, in its own words or ours.
func (o Options) holds(i item) bool { return o.knows(i.message) || o.answered(i) }

// answered reports whether the client holds a result in its own words.
func (o Options) answered(i item) bool {
	text, ok := o.answer(i)
	return ok && text == i.text
}

func (o Options) answer(i item) (text string, ok bool) {
	if i.Kind != record.KindResult || o.Answered == nil {
		return "", false
	}
	return o.Answered(i.call)
}

// Event is an event for the reader.
type Event struct {
	// ID, when it is set, is the position that the reader has come to with this event.
	ID   string
	Data any // encodes as the event
}

// Stream makes the events for one reader of one conversation, or for all whom it has adopted. Its methods
// return what has to be sent, in order. It is for one goroutine.
type Stream struct {
	o     Options
	state State
	items []item
	sent  map[uint64]bool // items, by their hashes
	at    Position
	firm  int // record.Firm of the items

	begun bool // there was an Update
	open  bool // a run is
	run   string
	// turn: the run has sent something.
	turn   bool
	runs   map[string]int // how often a run ID was derived
	failed bool
	shared []member                   // the agent's state that the client holds
	own    map[string]json.RawMessage // the client's own state; nil has no room for the agent's
	steps  []string                   // that are open

	drafts []*draft
	dead   map[string]bool // drafts that settled or never will
	stale  bool            // the client may hold what it must not, or lack something
	// keep is how many items the client keeps before it gets all at once, so that
	// they come to be in order; -1 is as many as it holds.
	keep int
	// replaced: there was a snapshot, and the client holds what it was sent and no more.
	replaced bool
	quiet    bool // events have no IDs
	mid      bool // a message is half sent
	lastID   string
	out      []Event
}

// New returns a Stream that has sent nothing yet.
func New(o Options) *Stream {
	return &Stream{
		o: o, sent: map[uint64]bool{}, runs: map[string]int{}, dead: map[string]bool{}, lastID: o.After.String(),
		keep: -1, own: object(o.State),
	}
}

// Done reports whether the conversation is completed and all is sent.
func (s *Stream) Done() bool {
	return s.begun && !s.open && s.state.Document.Status == contract.StatusCompleted
}

// Open reports whether a run is open: only then may events be sent that are no part of one.
func (s *Stream) Open() bool { return s.open }

// Update writes what is new in the conversation. States come in order.
func (s *Stream) Update(st State) []Event {
	first := !s.begun
	s.begun, s.state = true, st
	now := viewOf(st)
	s.items, s.firm = now.items, record.Firm(now.entries, st.Parallel())
	if first {
		s.resume(now.entries)
	}
	s.checkSent(now.entries)
	if !s.open && !first && !s.hasNews() {
		return nil
	}
	if s.open {
		s.writeState()
		if s.stale { // what is sent again may have the ID of what is no more
			s.correct()
		}
	} else {
		s.start(s.beginner(first))
	}
	s.beginSteps()
	for _, i := range s.items {
		if !s.sent[i.Hash()] {
			s.write(i, first)
		}
	}
	s.settleDrafts()
	s.endSteps(runningNodes(st))
	if !isWorking(st) {
		s.finish(s.items, pendingIn(st))
	}
	for _, d := range s.drafts {
		s.show(d)
	}
	return s.flush()
}

// Fail writes that something went wrong with the stream. The next Update begins a run.
func (s *Stream) Fail(message, code string) []Event {
	if s.failed {
		return nil
	}
	for _, d := range s.drafts {
		s.stale = s.stale || d.shows()
		d.hide()
		d.thought = ""
	}
	s.dropDrafts()
	s.failed, s.open, s.steps = true, false, nil
	s.emit(RunError{TypeRunError, message, code})
	return s.flush()
}

// hasNews reports whether there is something to open a run for.
func (s *Stream) hasNews() bool {
	if s.failed || s.stale || isWorking(s.state) {
		return true
	}
	for _, c := range changes(s.shared, membersOf(s.state)) {
		if c.Path == pathStatus || c.Path == pathApprovals {
			return true
		}
	}
	return slices.ContainsFunc(s.items, func(i item) bool { return !s.sent[i.Hash()] })
}

// resume takes note of what the reader holds already.
func (s *Stream) resume(entries []record.Entry) {
	sent, ok := s.o.After.Seen(entries)
	resumed := !s.o.After.IsZero()
	if !ok {
		sent = map[uint64]bool{}
	}
	s.stale = resumed && (!ok || s.o.After.open) || s.o.Snapshot && len(s.items) > 0
	all := !ok || s.o.Snapshot
	if all && (resumed || s.o.Known != nil) {
		s.keep = s.inOrder()
	}
	last := s.lastKnown()
	for n, i := range s.items {
		silent := all && (!i.Kind.Notice() || !resumed)
		known := s.o.holds(i) || i.Kind.Notice() && n < last && !resumed
		if sent[i.Hash()] || silent || known && !s.o.After.open { // a snapshot takes back what is not sent
			s.mark(i)
		}
	}
}

// inOrder is how many items from the first the client holds; -1 for all. A result has
// its place behind its call, and where it is missing the client keeps neither.
func (s *Stream) inOrder() int {
	keep := -1
	for n, i := range s.items {
		if i.Kind.Notice() || s.o.holds(i) {
			continue
		}
		if at := place(s.items, i.call); i.Kind == record.KindResult && at >= 0 {
			n = at
		}
		if keep < 0 || n < keep {
			keep = n
		}
	}
	return keep
}

// lastKnown is where the client's messages end. Notices before that are old.
func (s *Stream) lastKnown() int {
	for n, i := range slices.Backward(s.items) {
		if !i.Kind.Notice() && s.o.holds(i) {
			return n
		}
	}
	return -1
}

// mark takes note that an item is sent.
func (s *Stream) mark(i item) {
	s.sent[i.Hash()] = true
	s.at.Add(i.Entry, s.firm)
}

// checkSent takes note of items that were sent and are no more, or say something else: news
// may be older than what Temporal has recorded.
func (s *Stream) checkSent(entries []record.Entry) {
	left := 0
	for _, i := range s.items {
		if s.sent[i.Hash()] {
			left++
		}
	}
	if left < len(s.sent) {
		s.stale = true
		s.sent = s.sentAmong(s.items)
	}
	s.at.Cursor = record.CursorOf(entries, s.firm, s.sent)
}

// sentAmong are the hashes of the items that were sent.
func (s *Stream) sentAmong(items []item) map[uint64]bool {
	sent := map[uint64]bool{}
	for _, i := range items {
		if s.sent[i.Hash()] {
			sent[i.Hash()] = true
		}
	}
	return sent
}

// answered reports whether the client holds a result that it was not sent.
func (s *Stream) answered(i item) bool { return !s.replaced && s.o.answered(i) }

// contradicted reports whether the client holds another result of a call than there is,
// as front ends do that write down an approval as the result of the call.
func (s *Stream) contradicted(i item) bool {
	text, ok := s.o.answer(i)
	return ok && text != i.text && !s.replaced && !s.o.knows(i.message)
}

// knows reports whether the client holds a message that it was not sent.
func (s *Stream) knows(id string) bool { return !s.replaced && s.o.knows(id) }

// position is where the reader is.
func (s *Stream) position() Position {
	p := s.at
	p.open = s.stale || s.mid || slices.ContainsFunc(s.drafts, (*draft).shows)
	return p
}

func (s *Stream) emit(data any) {
	e := Event{Data: data}
	if id := s.position().String(); s.open && !s.quiet && id != s.lastID {
		e.ID, s.lastID = id, id
	}
	s.out = append(s.out, e)
}

func (s *Stream) flush() []Event {
	out := s.out
	s.out = nil
	return out
}

// beginner is the ID of the message that began what is sent next: the last user
// message or decision, or on the way to it the first that is new.
func (s *Stream) beginner(first bool) string {
	id := s.o.ThreadID
	for _, i := range s.items {
		_, decision := i.notice.Value.(Decision)
		begins := i.Kind == record.KindMessage || decision
		if begins {
			id = i.ID
		}
		if fresh := !s.sent[i.Hash()]; fresh && !first && (begins || !i.Kind.Notice()) {
			return id
		}
	}
	return id
}

// runID is the ID of the next run.
func (s *Stream) runID(beginner string) string {
	if id := s.o.RunID; id != "" && len(s.runs) == 0 {
		s.runs[id]++
		return id
	}
	id := "run-" + beginner
	s.runs[id]++
	if n := s.runs[id]; n > 1 {
		return fmt.Sprintf("%s-%d", id, n)
	}
	return id
}
