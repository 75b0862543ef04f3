package agentapi

import (
	"slices"

	"agent-stop-and-go/gateway/exchange"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

// resumeAfter lets telling go on after a position. anew is called if the conversation is another one than what was
// sent of it, before it is sent from the beginning of the turn.
func (t *Teller) resumeAfter(p position, anew func() error) { t.after, t.anew = &p, anew }

// position returns what was told.
func (t *Teller) position() (p position) {
	switch {
	case t.after != nil: // nothing was told since
		return *t.after
	case t.turn == 0:
		p = position{turn: t.first, phase: before}
	case t.open:
		p = position{turn: t.turn, phase: inside}
	default:
		p = position{turn: t.turn, phase: after}
	}
	p.cursor, p.gates = t.at, t.gatesBefore()
	if !t.open {
		return p
	}
	if part, ok := t.speech.Part(); ok {
		p.part = &part
	}
	return p
}

// mark notes that an entry was sent. Those of a node are sent in their order.
func (t *Teller) mark(e record.Entry) {
	if !t.marked[e.ID] {
		t.marked[e.ID] = true
		t.at.Add(e, t.firm)
		t.asked(e)
	}
}

// asked notes that an entry was sent, if it asks for an approval: the position has it by the entry.
func (t *Teller) asked(e record.Entry) {
	if e.Kind == record.KindRequest {
		delete(t.gated, e.ApprovalID)
	}
}

// gatesBefore returns the approvals that wait and were sent before their entries, for a position.
func (t *Teller) gatesBefore() (out []string) {
	for _, p := range t.latest.Pending {
		if t.gated[p.UUID] {
			out = append(out, p.UUID[:min(gateLength, len(p.UUID))])
		}
	}
	return out
}

// markTo notes that a turn begins with a message: what was before it is over.
func (t *Teller) markTo(message record.Entry, entries []record.Entry) {
	seen := map[uint64]bool{}
	for _, e := range entries {
		if e.Turn < message.Turn || e.ID == message.ID {
			t.asked(e)
			t.marked[e.ID], seen[e.Hash()] = true, true
		}
	}
	t.at = record.CursorOf(entries, t.firm, seen)
}

// skip leaves out the turns before the first one that is wanted, except what waits.
func (t *Teller) skip(entries []record.Entry, waiting []contract.PendingApproval) error {
	for _, e := range entries {
		if e.Turn >= t.first || t.marked[e.ID] {
			continue
		}
		t.mark(e)
		if err := t.request(e, waiting); err != nil {
			return err
		}
	}
	return nil
}

// resume goes on after a position, if there is one. It is not ready while the state lacks what was told.
func (t *Teller) resume(s *record.State, entries []record.Entry) (ready bool, err error) {
	p := t.after
	if p == nil {
		return true, nil
	}
	seen, ok := p.cursor.Seen(entries)
	if !ok && len(entries) < p.cursor.Len() && !s.Over() {
		return false, nil
	}
	t.after = nil
	if !ok || p.turn > turns(s)+s.Document.Queued+1 {
		if p.turn > 0 && p.turn < t.first {
			t.first = p.turn
			t.begins = func(e record.Entry) bool { return e.Turn >= p.turn }
		}
		return true, t.anew()
	}
	return true, t.goOn(*p, slices.DeleteFunc(slices.Clone(entries), func(e record.Entry) bool { return !seen[e.Hash()] }), s.Document.PendingApprovals)
}

// goOn goes on after a position, with the entries that were told.
func (t *Teller) goOn(p position, told []record.Entry, waiting []contract.PendingApproval) error {
	t.at, t.first = p.cursor, p.turn
	for _, w := range waiting {
		if slices.Contains(p.gates, w.UUID[:min(gateLength, len(w.UUID))]) {
			t.seen[w.UUID], t.gated[w.UUID] = true, true
		}
	}
	t.begins = func(e record.Entry) bool { return e.Turn >= p.turn }
	var turn []record.Entry
	for _, e := range told {
		t.marked[e.ID], t.seen[e.ID] = true, true
		if e.Kind == record.KindRequest {
			t.seen[e.ApprovalID] = true
		}
		if e.Turn == p.turn {
			turn = append(turn, e)
		}
	}
	if p.phase == before {
		return nil
	}
	t.turn, t.open = p.turn, p.phase == inside
	if !t.open {
		return nil
	}
	t.speech = exchange.ResumeSpeech(t.to.Token, turn, p.part)
	return t.release()
}
