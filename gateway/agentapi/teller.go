package agentapi

import (
	"agent-stop-and-go/gateway/exchange"
	"agent-stop-and-go/gateway/history"
	"agent-stop-and-go/gateway/live"
	"agent-stop-and-go/gateway/passcode"
	"agent-stop-and-go/gateway/turn"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

// Listener gets a conversation as clients know it.
type Listener interface {
	// Token gets a piece of text.
	Token(text string) error
	// Gate gets an approval that waits.
	Gate(p contract.PendingApproval, link string) error
	// Done ends a turn. Failed does so with what went wrong.
	Done() error
	Failed(text string) error
}

// Teller tells a conversation to a listener: a pure function of what it is given. It takes states and
// drafts in the order in which a live.Reader has them.
type Teller struct {
	to Listener
	// begins reports whether telling begins with the turn of a user's message.
	begins func(record.Entry) bool
	// link is the address of an approval.
	link func(uuid string) string

	latest contract.ConversationView // older states are ignored
	// current: all states are, so that what waits is sent also before the turn begins, which waits for it.
	current bool
	seen    map[string]bool // IDs of entries whose traces and approvals that were told
	turn    int             // that is sent, 0 before it has begun
	open    bool            // it has not ended
	busy    bool            // a turn goes on in the latest state, be it told or not
	speech  *exchange.Speech
	// failed is what went wrong last; it ends the turn unless something follows.
	failed *record.Entry
	early  turn.Turn // holds drafts until their turn begins

	// What was told, for positions. Entries of turns that are left out count as told.
	at     record.Cursor
	marked map[string]bool // IDs of the entries
	gated  map[string]bool // UUIDs of approvals that were told, though not the entries that ask for them
	firm   int             // record.Firm of the latest state
	first  int             // the turn with which telling begins
	// after is the position after which telling begins, until a state has shown it. anew is called if
	// none has.
	after *position
	anew  func() error
}

// newTellerFrom returns a teller that begins with a turn.
func newTellerFrom(to Listener, view contract.ConversationView, first int, link func(string) string) *Teller {
	t := NewTeller(to, view, func(e record.Entry) bool { return e.Turn >= first }, link)
	t.first = first
	return t
}

// NewTeller returns a teller. States before view are ignored.
func NewTeller(to Listener, view contract.ConversationView, begins func(record.Entry) bool, link func(string) string) *Teller {
	return &Teller{to: to, begins: begins, link: link, latest: view, current: view.ID != "", busy: view.Running || len(view.Pending) > 0, seen: map[string]bool{}, marked: map[string]bool{}, gated: map[string]bool{}}
}

// Item tells an item of a reader.
func (t *Teller) Item(i live.Item) error {
	switch {
	case i.State != nil:
		err := t.state(i.State)
		if !t.open {
			t.early.DropDrafts(i.Drafts)
		}
		return err
	case !t.open:
		t.early.Buffer(i)
		return nil
	}
	return t.speech.Piece(i)
}

// state tells what is new in a state.
func (t *Teller) state(s *record.State) error {
	if live.Older(s.View, t.latest) {
		return nil
	}
	t.latest, t.busy = s.View, !s.Over()
	entries := s.Entries()
	t.firm = record.Firm(entries, s.Parallel())
	if ready, err := t.resume(s, entries); err != nil || !ready {
		return err
	}
	if t.turn == 0 && t.current {
		if err := t.skip(entries, s.Document.PendingApprovals); err != nil {
			return err
		}
	}
	for _, e := range entries {
		if e.Kind != record.KindMessage {
			continue
		}
		if err := t.message(e, entries); err != nil {
			return err
		}
	}
	if err := t.entries(entries, s.Document.PendingApprovals, false); err != nil {
		return err
	}
	if t.turn != 0 || t.current {
		if err := t.gates(s.Document.PendingApprovals); err != nil {
			return err
		}
	}
	if s.Over() {
		return t.end(entries)
	}
	return nil
}

// message begins a turn, and ends the one before it. Turns before the first one that is wanted are left out
// of every state.
func (t *Teller) message(e record.Entry, entries []record.Entry) error {
	if e.Turn <= t.turn || t.turn == 0 && !t.begins(e) {
		return nil
	}
	if err := t.end(entries); err != nil {
		return err
	}
	t.turn, t.open, t.speech = e.Turn, true, exchange.NewSpeech(t.to.Token)
	t.markTo(e, entries)
	return t.release()
}

// release tells the drafts that have come before their turn was known to have begun.
func (t *Teller) release() error {
	for _, i := range t.early.Release() {
		if err := t.speech.Piece(i); err != nil {
			return err
		}
	}
	return nil
}

// entries tells those of the turn that were not told; last: there will be no more. What other nodes do
// while a text is written is sent after it.
func (t *Teller) entries(entries []record.Entry, waiting []contract.PendingApproval, last bool) error {
	for _, e := range entries {
		if e.Turn != t.turn || e.Kind == record.KindMessage || e.Missing || t.seen[e.ID] || !t.open {
			continue
		}
		if err := t.entry(e, waiting, last); err != nil {
			return err
		}
	}
	return nil
}

func (t *Teller) entry(e record.Entry, waiting []contract.PendingApproval, last bool) error {
	text := e.Kind == record.KindText
	switch {
	case text && e.Outcome == contract.OutcomeFailed:
		t.seen[e.ID] = true
		if err := t.recover(); err != nil {
			return err
		}
		t.failed = &e
		return nil
	case text && !t.speech.Takes(e, last), !text && t.speech.Open() && !last:
		return nil
	case text:
		if err := t.recover(); err != nil {
			return err
		}
		t.mark(e)
		return t.speech.Entries([]record.Entry{e}, last)
	}
	t.seen[e.ID] = true
	trace := traceOf(e)
	if trace != "" {
		if err := t.recover(); err != nil {
			return err
		}
	}
	t.mark(e)
	if trace != "" {
		return t.to.Token(trace)
	}
	return t.request(e, waiting)
}

// recover tells a failure that was not the end of the turn.
func (t *Teller) recover() error {
	if t.failed == nil {
		return nil
	}
	return t.to.Token(t.failure() + "\n")
}

// failure returns the text of what went wrong, which is sent then.
func (t *Teller) failure() string {
	e := *t.failed
	t.failed = nil
	t.mark(e)
	return history.Text(e)
}

// end ends the turn that is open, of which entries has all.
func (t *Teller) end(entries []record.Entry) error {
	if !t.open {
		return nil
	}
	if err := t.entries(entries, nil, true); err != nil {
		return err
	}
	t.open = false
	text, failed := "", t.failed != nil
	if failed {
		text = t.failure()
	}
	for _, e := range entries {
		if e.Turn == t.turn { // also the results that are missing
			t.mark(e)
		}
	}
	if failed {
		return t.to.Failed(text)
	}
	return t.to.Done()
}

// Idle reports whether no turn goes on.
func (t *Teller) Idle() bool { return !t.open && !t.busy }

// gates tells the approvals that wait, and whose requests are not in the record yet, or wait for a text to end.
func (t *Teller) gates(waiting []contract.PendingApproval) error {
	for _, p := range waiting {
		t.gated[p.UUID] = t.gated[p.UUID] || !t.seen[p.UUID]
		if err := t.gate(p); err != nil {
			return err
		}
	}
	return nil
}

// request tells the approval that an entry asks for, if it waits.
func (t *Teller) request(e record.Entry, waiting []contract.PendingApproval) error {
	if e.Kind != record.KindRequest {
		return nil
	}
	for _, p := range waiting {
		if p.UUID == e.ApprovalID {
			return t.gate(p)
		}
	}
	return nil
}

// gate tells an approval. One that takes more than a yes or a no, or
// is not shown whole, is sent as text.
func (t *Teller) gate(p contract.PendingApproval) error {
	switch {
	case t.seen[p.UUID]:
		return nil
	case passcode.Takes(p) && whole(p):
		t.seen[p.UUID] = true
		return t.to.Gate(p, t.link(p.UUID))
	}
	t.seen[p.UUID] = true
	return t.to.Token("\n" + passcode.Card(p, t.link(p.UUID), "") + "\n")
}
