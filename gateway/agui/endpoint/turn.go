package endpoint

import (
	"slices"

	"agent-stop-and-go/gateway/live"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

// turn is the part of a conversation that a streamed request is about: from its
// message, or from a decision on, to the message after that. Without either it is
// everything up to where the conversation stops next.
type turn struct {
	service.Request
	// message is the name of the message, and from that of an earlier one that the
	// request sent with it. first is the conversation's first message.
	message string
	from    string
	first   bool
	// approvals must have been decided before the turn goes on; anchor is the ID of
	// the message that it answers.
	approvals []string
	anchor    string
	// least is how the conversation is known to be: what is older is not shown.
	least contract.ConversationView
	// inBand: the client learns of errors by events only.
	inBand bool
	// alone: what was before the turn is not shown.
	alone bool
	// before is the conversation when the request came, with alone.
	before record.State

	begun   bool
	over    bool // the request has settled
	missing bool // it settled, and its message is not to be found
	held    []live.Item
}

// hold keeps what may belong to the turn when it turns out to have begun.
func (t *turn) hold(i live.Item) {
	if t.held = live.Append(t.held, i); len(t.held) > live.MaxUnread {
		t.held = nil
	}
}

// dropDrafts drops what is held of drafts when so many had begun and the turn had not.
func (t *turn) dropDrafts(drafts int) {
	others := map[string]bool{}
	for _, i := range t.held {
		if i.Draft != nil && i.Drafts <= drafts {
			others[i.Draft.ID] = true
		}
	}
	t.held = slices.DeleteFunc(t.held, func(i live.Item) bool { return others[i.Name()] })
}

// release is what is held of the last draft of each node: those before it are over, and
// may be of another turn.
func (t *turn) release() []live.Item {
	last, nodes := map[string]bool{}, map[string]bool{}
	for _, i := range slices.Backward(t.held) {
		if i.Draft != nil && !nodes[i.Draft.Node] {
			nodes[i.Draft.Node], last[i.Draft.ID] = true, true
		}
	}
	held := slices.DeleteFunc(t.held, func(i live.Item) bool { return !last[i.Name()] })
	t.held = nil
	return held
}

// end takes note that the request has settled.
func (t *turn) end(v contract.ConversationView) {
	t.over = true
	if live.Older(t.least, v) {
		t.least = v
	}
}

// part is the turn's part of a state; ok is false while there is none.
func (t *turn) part(s record.State) (part record.State, ok bool) {
	at := t.start(s)
	if t.early(s) || !t.begun && !t.begins(s, at) {
		return s, false
	}
	if !t.begun && at >= 0 {
		t.before = until(s, at)
	}
	t.missing = at < 0 && len(t.approvals) == 0
	t.begun = true
	if at >= 0 {
		s = cut(s, at)
	}
	s.Running = !t.over && (s.Running || at < 0 && t.named())
	if !s.Running {
		s.Document.Queued = 0
	}
	return s, true
}

func (t *turn) early(s record.State) bool {
	return s.Document.Version < t.least.Version ||
		s.Document.Version == t.least.Version && len(s.Messages) < t.least.Transcript.Len()
}

// begins reports whether the turn is there to be seen.
func (t *turn) begins(s record.State, at int) bool {
	switch {
	case t.over, t.named() && at >= 0, t.from != "" && indexOf(s, t.from) >= 0:
		return true
	case len(t.approvals) > 0:
		return t.resumed(s)
	}
	return !t.named()
}

func (t *turn) named() bool { return t.message != "" || t.first }

// start is the index of the turn's message, or -1.
func (t *turn) start(s record.State) int {
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

// ofUser reports whether a user wrote a message. The record of a decision is not one.
func ofUser(m contract.Message) bool {
	return m.Role == contract.RoleUser && !m.Notice && m.Approval == nil
}

// indexOf is the index of the user's message with a name, or with an ID.
func indexOf(s record.State, name string) int {
	return slices.IndexFunc(s.Messages, func(m contract.Message) bool {
		return ofUser(m) && (m.DraftID == name || m.ID == name)
	})
}

// nextUser is the index of the first message of the user from an index on, or -1.
func nextUser(messages []contract.Message, from int) int {
	n := slices.IndexFunc(messages[from:], ofUser)
	if n < 0 {
		return n
	}
	return from + n
}

// resumed reports whether nothing is in the way of the turn any more.
func (t *turn) resumed(s record.State) bool {
	return !slices.ContainsFunc(s.Document.PendingApprovals, func(p contract.PendingApproval) bool {
		return slices.Contains(t.approvals, p.UUID)
	})
}

// until is a conversation as it was before a message.
func until(s record.State, at int) record.State {
	s.Messages = s.Messages[:at]
	d := &s.Document
	d.Status, d.Queued, d.PendingApproval, d.PendingApprovals = contract.StatusActive, 0, nil, nil
	s.Running, s.Tree = false, nil
	return s
}

// cut ends a conversation before the message after the one at an index.
func cut(s record.State, at int) record.State {
	if next := nextUser(s.Messages, at+1); next >= 0 {
		return until(s, next)
	}
	return s
}
