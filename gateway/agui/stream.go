package agui

import (
	"encoding/json"
	"fmt"
	"slices"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

// Options describe the reader of a Stream.
type Options struct {
	ThreadID string
	// RunID is the ID of the first run. By default, and for all other runs, it is derived:
	// "run-" and the ID of the message that began the run.
	RunID string
	// Known reports whether the client holds a message, by AG-UI ID. The client must hold the
	// messages completely: for a reader whose last stream broke off, set Snapshot as well.
	Known func(id string) bool
	// ClientResult returns the result of a call, by AG-UI ID, that the client holds in a
	// message of its own. If it equals the recorded result, that is not sent; if not, a
	// snapshot replaces the client's message.
	ClientResult func(toolCallID string) (text string, ok bool)
	// State is the front end's own state. The members of an object are returned in snapshots.
	// If it is not an object, it has no place for the agent's state, and the client does not
	// get that.
	State json.RawMessage
	// After is what the reader has received. The zero value is nothing.
	After Position
	// Snapshot: begin with one snapshot instead of single messages.
	Snapshot bool
}

func (o Options) knows(id string) bool { return o.Known != nil && o.Known(id) }

// holds reports whether the client has an item already, in our form or its own.
func (o Options) holds(i item) bool { return o.knows(i.message) || o.hasResult(i) }

// hasResult reports whether the client holds the result in a message of its own.
func (o Options) hasResult(i item) bool {
	text, ok := o.clientResult(i)
	return ok && text == i.text
}

func (o Options) clientResult(i item) (text string, ok bool) {
	if i.Kind != record.KindResult || o.ClientResult == nil {
		return "", false
	}
	return o.ClientResult(i.call)
}

type Event struct {
	// ID, unless empty, is the reader's position after this event.
	ID   string
	Data any // encodes as the event
}

// Stream makes the events of one conversation, for one reader and those it adopts. Its
// methods return the events to send, in order. It is for one goroutine.
type Stream struct {
	o     Options
	state State
	items []item
	sent  map[uint64]bool // hashes of the items that were sent
	at    Position
	firm  int // record.Firm of the items

	started bool // Update was called
	open    bool // a run is open
	run     string
	// runSent: the run has sent an item.
	runSent bool
	runs    map[string]int // how often a run ID was derived
	failed  bool
	shared  []member                   // the agent's state that the client holds
	own     map[string]json.RawMessage // the client's own state; nil if it has no place for the agent's
	steps   []string                   // open steps

	drafts []*draft
	ended  map[string]bool // drafts that are recorded or never will be
	stale  bool            // the client may hold something wrong, or lack something
	// keep is how many items the client keeps when the first snapshot comes, so that the
	// others follow in order; -1 keeps all that it holds.
	keep int
	// replaced: a snapshot was sent, so the client holds exactly what it was sent.
	replaced   bool
	withoutIDs bool // events get no IDs
	midMessage bool // a message was sent in part
	lastID     string
	out        []Event
}

// New returns a Stream that has sent nothing.
func New(o Options) *Stream {
	return &Stream{
		o: o, sent: map[uint64]bool{}, runs: map[string]int{}, ended: map[string]bool{}, lastID: o.After.String(),
		keep: -1, own: object(o.State),
	}
}

// Done reports whether the conversation has ended and everything was sent.
func (s *Stream) Done() bool {
	return s.started && !s.open && s.state.Document.Status == contract.StatusCompleted
}

// Open reports whether a run is open. Events outside of runs must not be sent.
func (s *Stream) Open() bool { return s.open }

// Update returns the events for what is new in a state. States must come in order.
func (s *Stream) Update(st State) []Event {
	first := !s.started
	s.started, s.state = true, st
	now := viewOf(st)
	s.items, s.firm = now.items, record.Firm(now.entries, st.Parallel())
	if first {
		s.resume(now.entries)
	}
	s.checkSent(now.entries)
	if !s.open && !first && !s.hasChanges() {
		return nil
	}
	if s.open {
		s.writeState()
		if s.stale { // an item sent below may have the ID of a removed one
			s.correct()
		}
	} else {
		s.start(s.runOrigin(first))
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

// Fail reports an error of the stream to the client. The next Update begins a run.
func (s *Stream) Fail(message, code string) []Event {
	if s.failed {
		return nil
	}
	for _, d := range s.drafts {
		s.stale = s.stale || d.shows()
		d.forget()
		d.thought = ""
	}
	s.dropDrafts()
	s.failed, s.open, s.steps = true, false, nil
	s.emit(RunError{TypeRunError, message, code})
	return s.flush()
}

// hasChanges reports whether there is a reason to open a run.
func (s *Stream) hasChanges() bool {
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

// resume records what the reader already holds.
func (s *Stream) resume(entries []record.Entry) {
	sent, ok := s.o.After.Seen(entries)
	resumed := !s.o.After.IsZero()
	if !ok {
		sent = map[uint64]bool{}
	}
	s.stale = resumed && (!ok || s.o.After.open) || s.o.Snapshot && len(s.items) > 0
	all := !ok || s.o.Snapshot
	if all && (resumed || s.o.Known != nil) {
		s.keep = s.heldPrefix()
	}
	last := s.lastKnown()
	for n, i := range s.items {
		silent := all && (!i.Kind.Notice() || !resumed)
		known := s.o.holds(i) || i.Kind.Notice() && n < last && !resumed
		if sent[i.Hash()] || silent || known && !s.o.After.open { // a snapshot removes what is not marked as sent
			s.mark(i)
		}
	}
}

// heldPrefix returns how many items from the first the client holds without a gap, or -1 for
// all. A missing result counts from its call on, because a snapshot must place it right after
// the call.
func (s *Stream) heldPrefix() int {
	keep := -1
	for n, i := range s.items {
		if i.Kind.Notice() || s.o.holds(i) {
			continue
		}
		if at := callIndex(s.items, i.call); i.Kind == record.KindResult && at >= 0 {
			n = at
		}
		if keep < 0 || n < keep {
			keep = n
		}
	}
	return keep
}

// lastKnown returns the index of the last item that the client holds. Notices before it are
// old.
func (s *Stream) lastKnown() int {
	for n, i := range slices.Backward(s.items) {
		if !i.Kind.Notice() && s.o.holds(i) {
			return n
		}
	}
	return -1
}

// mark records that an item was sent.
func (s *Stream) mark(i item) {
	s.sent[i.Hash()] = true
	s.at.Add(i.Entry, s.firm)
}

// checkSent finds items that were sent and have since been removed or changed: a state that
// came with an event may differ from what Temporal recorded.
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

// sentAmong returns the hashes of the items that were sent.
func (s *Stream) sentAmong(items []item) map[uint64]bool {
	sent := map[uint64]bool{}
	for _, i := range items {
		if s.sent[i.Hash()] {
			sent[i.Hash()] = true
		}
	}
	return sent
}

// hasResult reports whether the client holds a result that this Stream did not send.
func (s *Stream) hasResult(i item) bool { return !s.replaced && s.o.hasResult(i) }

// hasOtherResult reports whether the client holds a result that differs from the recorded
// one. Some front ends store an approval as the result of its call.
func (s *Stream) hasOtherResult(i item) bool {
	text, ok := s.o.clientResult(i)
	return ok && text != i.text && !s.replaced && !s.o.knows(i.message)
}

// knows reports whether the client holds a message that this Stream did not send.
func (s *Stream) knows(id string) bool { return !s.replaced && s.o.knows(id) }

// position returns the reader's position.
func (s *Stream) position() Position {
	p := s.at
	p.open = s.stale || s.midMessage || slices.ContainsFunc(s.drafts, (*draft).shows)
	return p
}

func (s *Stream) emit(data any) {
	e := Event{Data: data}
	if id := s.position().String(); s.open && !s.withoutIDs && id != s.lastID {
		e.ID, s.lastID = id, id
	}
	s.out = append(s.out, e)
}

func (s *Stream) flush() []Event {
	out := s.out
	s.out = nil
	return out
}

// runOrigin returns the ID of the message that began the next run: the last user message or
// decision or, in a later run, the first one that was not sent.
func (s *Stream) runOrigin(first bool) string {
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

// runID returns the ID of the next run.
func (s *Stream) runID(origin string) string {
	if id := s.o.RunID; id != "" && len(s.runs) == 0 {
		s.runs[id]++
		return id
	}
	id := "run-" + origin
	s.runs[id]++
	if n := s.runs[id]; n > 1 {
		return fmt.Sprintf("%s-%d", id, n)
	}
	return id
}
