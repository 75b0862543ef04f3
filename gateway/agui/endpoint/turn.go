package endpoint

import (
	"slices"

	"agent-stop-and-go/gateway/live"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

// turn is the part of a conversation that belongs to a streamed request: from the request's
// message or decision up to the next user message. A request without either gets everything
// up to the next pause.
type turn struct {
	service.Request
	// message is the name (ID or DraftID) of the request's last message, from that of its
	// first. first marks the first message of the conversation.
	message string
	from    string
	first   bool
	// approvals must be decided before the turn continues. anchor is the ID of the message
	// that the continued turn answers.
	approvals []string
	anchor    string
	// latest is the newest known state of the conversation. Older states are ignored.
	latest contract.ConversationView
	// inBand: errors are sent as events only.
	inBand bool
	// onlyTurn: what precedes the turn is not sent.
	onlyTurn bool
	// before is the state that precedes the turn, for onlyTurn.
	before record.State

	started  bool
	settled  bool // the request has settled
	missing  bool // it settled, but its message was not found
	buffered []live.Item
}

// buffer keeps an item that may belong to the turn until the turn is known to have begun.
func (t *turn) buffer(i live.Item) {
	if t.buffered = live.Append(t.buffered, i); len(t.buffered) > live.MaxUnread {
		t.buffered = nil
	}
}

// dropDrafts drops the buffered drafts that had begun when the turn had not: the state that
// came with this number of drafts did not contain the turn.
func (t *turn) dropDrafts(drafts int) {
	others := map[string]bool{}
	for _, i := range t.buffered {
		if i.Draft != nil && i.Drafts <= drafts {
			others[i.Draft.ID] = true
		}
	}
	t.buffered = slices.DeleteFunc(t.buffered, func(i live.Item) bool { return others[i.Name()] })
}

// release returns the buffered items of the last draft of each node. Earlier drafts have
// ended and may belong to another turn.
func (t *turn) release() []live.Item {
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

// settle records that the request has settled, with the state at that time.
func (t *turn) settle(v contract.ConversationView) {
	t.settled = true
	if live.Older(t.latest, v) {
		t.latest = v
	}
}

// extract returns the turn's part of a state; ok is false until the turn has begun.
func (t *turn) extract(s record.State) (part record.State, ok bool) {
	at := t.messageIndex(s)
	if t.isStale(s) || !t.started && !t.isVisible(s, at) {
		return s, false
	}
	if !t.started && at >= 0 {
		t.before = stateBefore(s, at)
	}
	t.missing = at < 0 && len(t.approvals) == 0
	t.started = true
	if at >= 0 {
		s = withoutLaterTurns(s, at)
	}
	s.Running = !t.settled && (s.Running || at < 0 && t.hasMessage())
	if !s.Running {
		s.Document.Queued = 0
	}
	return s, true
}

func (t *turn) isStale(s record.State) bool {
	return s.Document.Version < t.latest.Version ||
		s.Document.Version == t.latest.Version && len(s.Messages) < t.latest.Transcript.Len()
}

// isVisible reports whether a state contains the beginning of the turn.
func (t *turn) isVisible(s record.State, at int) bool {
	switch {
	case t.settled, t.hasMessage() && at >= 0, t.from != "" && indexOf(s, t.from) >= 0:
		return true
	case len(t.approvals) > 0:
		return t.approvalsDecided(s)
	}
	return !t.hasMessage()
}

func (t *turn) hasMessage() bool { return t.message != "" || t.first }

// messageIndex returns the index of the turn's message, or -1.
func (t *turn) messageIndex(s record.State) int {
	switch {
	case t.first:
		return nextUser(s.Messages, 0)
	case t.message != "":
		return indexOf(s, t.message)
	case t.anchor != "":
		return indexOf(s, t.anchor)
	}
	return -1
}

// isUserMessage reports whether a user wrote the message. Records of decisions also have the
// user's role.
func isUserMessage(m contract.Message) bool {
	return m.Role == contract.RoleUser && !m.Notice && m.Approval == nil
}

// indexOf returns the index of the user's message with a DraftID or ID, or -1.
func indexOf(s record.State, name string) int {
	return slices.IndexFunc(s.Messages, func(m contract.Message) bool {
		return isUserMessage(m) && (m.DraftID == name || m.ID == name)
	})
}

// nextUser returns the index of the first user message from an index on, or -1.
func nextUser(messages []contract.Message, from int) int {
	n := slices.IndexFunc(messages[from:], isUserMessage)
	if n < 0 {
		return n
	}
	return from + n
}

// approvalsDecided reports whether none of the turn's approvals waits any more.
func (t *turn) approvalsDecided(s record.State) bool {
	return !slices.ContainsFunc(s.Document.PendingApprovals, func(p contract.PendingApproval) bool {
		return slices.Contains(t.approvals, p.UUID)
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
