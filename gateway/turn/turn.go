package turn

import (
	"slices"

	"agent-stop-and-go/gateway/live"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

// Turn is the part of a conversation that belongs to a streamed request: from the request's
// message or decision up to the next user message. A request without either gets everything
// up to the next pause.
type Turn struct {
	service.Request
	// Message is the name (ID or DraftID) of the request's last message, From that of its
	// first. First marks the first message of the conversation.
	Message string
	From    string
	First   bool
	// Approvals must be decided before the turn continues. Anchor is the ID of the message
	// that the continued turn answers.
	Approvals []string
	Anchor    string
	// Latest is the newest known state of the conversation. Older states are ignored.
	Latest contract.ConversationView
	// Before is the state that precedes the turn. Extract sets it.
	Before record.State
	// Started is set by Extract when a state has had the beginning of the turn, and Missing if the
	// request has settled but its message was not found.
	Started, Missing bool

	settled  bool // the request has settled
	buffered []live.Item
}

// Buffer keeps an item that may belong to the turn until the turn is known to have begun.
func (t *Turn) Buffer(i live.Item) {
	if t.buffered = live.Append(t.buffered, i); len(t.buffered) > live.MaxUnread {
		t.buffered = nil
	}
}

// DropDrafts drops the buffered drafts that had begun when the turn had not: the state that
// came with this number of drafts did not contain the turn.
func (t *Turn) DropDrafts(drafts int) {
	others := map[string]bool{}
	for _, i := range t.buffered {
		if i.Draft != nil && i.Drafts <= drafts {
			others[i.Draft.ID] = true
		}
	}
	t.buffered = slices.DeleteFunc(t.buffered, func(i live.Item) bool { return others[i.Name()] })
}

// Release returns the buffered items of the last draft of each node. Earlier drafts have
// ended and may belong to another turn.
func (t *Turn) Release() []live.Item {
	last, nodes := map[string]bool{}, map[string]bool{}
	for _, i := range slices.Backward(t.buffered) {
		if i.Draft != nil && !nodes[i.Draft.Node] {
			nodes[i.Draft.Node], last[i.Draft.ID] = true, true
		}
	}
	held := slices.DeleteFunc(t.buffered, func(i live.Item) bool { return !last[i.Name()] })
	t.buffered = nil
	return held
}

// Settle records that the request has settled, with the state at that time.
func (t *Turn) Settle(v contract.ConversationView) {
	t.settled = true
	if live.Older(t.Latest, v) {
		t.Latest = v
	}
}

// Extract returns the turn's part of a state; ok is false until the turn has begun.
func (t *Turn) Extract(s record.State) (part record.State, ok bool) {
	at := t.messageIndex(s)
	if t.Stale(s) || !t.Started && !t.isVisible(s, at) {
		return s, false
	}
	if !t.Started && at >= 0 {
		t.Before = stateBefore(s, at)
	}
	t.Missing = at < 0 && len(t.Approvals) == 0
	t.Started = true
	if at >= 0 {
		s = withoutLaterTurns(s, at)
	}
	s.Running = !t.settled && (s.Running || at < 0 && t.hasMessage())
	if !s.Running {
		s.Document.Queued = 0
	}
	return s, true
}

func (t *Turn) Stale(s record.State) bool {
	return s.Document.Version < t.Latest.Version ||
		s.Document.Version == t.Latest.Version && len(s.Messages) < t.Latest.Transcript.Len()
}

// isVisible reports whether a state contains the beginning of the turn.
func (t *Turn) isVisible(s record.State, at int) bool {
	switch {
	case t.settled, t.hasMessage() && at >= 0, t.From != "" && indexOf(s, t.From) >= 0:
		return true
	case len(t.Approvals) > 0:
		return t.Decided(s)
	}
	return !t.hasMessage()
}

func (t *Turn) hasMessage() bool { return t.Message != "" || t.First }

// messageIndex returns the index of the turn's message, or -1.
func (t *Turn) messageIndex(s record.State) int {
	switch {
	case t.First:
		return nextUser(s.Messages, 0)
	case t.Message != "":
		return indexOf(s, t.Message)
	case t.Anchor != "":
		return indexOf(s, t.Anchor)
	}
	return -1
}

// ByUser reports whether a user wrote the message. Records of decisions also have the
// user's role.
func ByUser(m contract.Message) bool {
	return m.Role == contract.RoleUser && !m.Notice && m.Approval == nil
}

// indexOf returns the index of the user's message with a DraftID or ID, or -1.
func indexOf(s record.State, name string) int {
	return slices.IndexFunc(s.Messages, func(m contract.Message) bool {
		return ByUser(m) && (m.DraftID == name || m.ID == name)
	})
}

// nextUser returns the index of the first user message from an index on, or -1.
func nextUser(messages []contract.Message, from int) int {
	n := slices.IndexFunc(messages[from:], ByUser)
	if n < 0 {
		return n
	}
	return from + n
}

// Decided reports whether none of the turn's approvals waits any more.
func (t *Turn) Decided(s record.State) bool {
	return !slices.ContainsFunc(s.Document.PendingApprovals, func(p contract.PendingApproval) bool {
		return slices.Contains(t.Approvals, p.UUID)
	})
}

// stateBefore returns the state before the message at an index, without anything that runs or
// waits.
func stateBefore(s record.State, at int) record.State {
	s.Messages = s.Messages[:at]
	d := &s.Document
	d.Status, d.Queued, d.PendingApproval, d.PendingApprovals = contract.StatusActive, 0, nil, nil
	s.Running, s.Tree = false, nil
	return s
}

// withoutLaterTurns ends a state before the next user message after the one at an index.
func withoutLaterTurns(s record.State, at int) record.State {
	if next := nextUser(s.Messages, at+1); next >= 0 {
		return stateBefore(s, next)
	}
	return s
}
