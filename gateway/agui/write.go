package agui

import (
	"slices"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

func (s *Stream) start(origin string) {
	s.open, s.failed, s.runSent, s.run = true, false, false, s.runID(origin)
	s.withoutIDs = s.stale // what is marked as sent was not sent by this stream
	s.emit(RunStarted{TypeRunStarted, s.o.ThreadID, s.run, ProtocolVersion})
	s.shared = membersOf(s.state)
	if s.own != nil {
		s.emit(StateSnapshot{TypeStateSnapshot, mergeState(s.own, sharedOf(s.state))})
	}
	s.withoutIDs = false
	if s.stale && s.keep >= 0 {
		s.truncate(s.items[:s.keep])
	}
	if s.stale {
		s.correct()
	}
}

// truncate sends a snapshot with only these items.
func (s *Stream) truncate(items []item) {
	all := s.at
	s.at = Position{}
	for _, i := range items {
		s.at.Add(i.Entry, s.firm)
	}
	s.emit(MessagesSnapshot{TypeMessagesSnapshot, messagesOf(items, func(item) bool { return true })})
	s.at, s.keep = all, -1
}

// finish ends the run and everything open in it. Drafts that were not recorded are removed
// from the client.
func (s *Stream) finish(items []item, pending []contract.PendingApproval) {
	if s.stale || slices.ContainsFunc(s.drafts, (*draft).shows) {
		s.correct()
	}
	for _, d := range s.drafts {
		s.endThought(d)
	}
	s.dropDrafts()
	s.endSteps(nil)
	s.emit(RunFinished{TypeRunFinished, s.o.ThreadID, s.run, outcome(items, pending)})
	s.open = false
}

// dropDrafts ends all drafts: no more of them is sent.
func (s *Stream) dropDrafts() {
	for _, d := range s.drafts {
		s.ended[d.name] = true
	}
	s.drafts = nil
}

func (s *Stream) writeState() {
	now := membersOf(s.state)
	if delta := changes(s.shared, now); len(delta) > 0 && s.own != nil {
		s.emit(StateDelta{TypeStateDelta, delta})
	}
	s.shared = now
}

// beginSteps sends the start of nodes that run now, unless the run is about to end.
func (s *Stream) beginSteps() {
	if !isWorking(s.state) {
		return
	}
	for _, name := range runningNodes(s.state) {
		if !slices.Contains(s.steps, name) {
			s.steps = append(s.steps, name)
			s.emit(Step{TypeStepStarted, name})
		}
	}
}

// endSteps sends the end of nodes that no longer run, inner nodes first.
func (s *Stream) endSteps(running []string) {
	var left []string
	for _, name := range slices.Backward(s.steps) {
		if slices.Contains(running, name) {
			left = append(left, name)
			continue
		}
		s.emit(Step{TypeStepFinished, name})
	}
	slices.Reverse(left)
	s.steps = left
}

// write sends an item.
func (s *Stream) write(i item, first bool) {
	known := s.knows(i.message) && !first
	switch {
	case i.Kind == record.KindMessage:
		s.writeUser(i, first)
	case s.hasResult(i):
		s.mark(i)
	case s.hasOtherResult(i):
		s.mark(i)
		s.correct()
	case known && !i.Kind.Notice(): // possibly incomplete, from a stream that broke off
		s.mark(i)
		s.correct()
	case known:
		s.mark(i)
	case i.Kind.Notice():
		s.mark(i)
		s.emit(i.notice)
	case i.Kind == record.KindResult:
		s.mark(i)
		s.emit(CallResult{TypeCallResult, i.message, i.call, i.text, RoleTool, i.meta})
	case i.Kind == record.KindText:
		s.writeText(i)
	case i.Kind == record.KindCall:
		s.writeCall(i)
	}
	s.runSent = true
}

// writeUser sends a user's message. It ends the run of the turn before it, unless the client
// holds the message.
func (s *Stream) writeUser(i item, first bool) {
	if s.runSent && !first && !s.o.knows(i.message) {
		n := slices.IndexFunc(s.items, func(j item) bool { return j.ID == i.ID })
		s.finish(s.items[:n], nil)
		s.start(i.ID)
		s.beginSteps()
	}
	switch {
	case s.knows(i.message):
		s.mark(i)
	case i.hasClientID && !s.o.After.IsZero(): // the reader may have sent it
		s.mark(i)
		s.correct()
	default:
		s.retractLaterDrafts(i)
		s.writeMessage(i, RoleUser)
	}
}

// writeMessage sends a text of which nothing was shown.
func (s *Stream) writeMessage(i item, role string) {
	s.midMessage = true
	s.emit(TextStart{TypeTextStart, i.message, role, i.name})
	if i.text != "" {
		s.emit(Piece{TypeTextContent, i.message, i.text})
	}
	s.midMessage = false
	s.mark(i)
	s.emit(Mark{Type: TypeTextEnd, MessageID: i.message})
}

func (s *Stream) writeText(i item) {
	d := s.draft(i.draft)
	switch {
	case d == nil || !d.shows():
		s.retractLaterDrafts(i)
		s.writeMessage(i, RoleAssistant)
	case d.text.open && d.text.isPrefixOf(i.text) && (i.name == "" || !d.nameless):
		s.settle(d, &d.text, i)
	default:
		s.mark(i)
		s.stale = true
	}
}

// settle sends the rest of an item that was shown as a draft.
func (s *Stream) settle(d *draft, p *part, i item) {
	s.endThought(d)
	rest := ""
	if p.isPrefixOf(i.text) {
		rest = i.text[len(p.shown):]
	}
	var content, end any = Piece{TypeTextContent, i.message, rest}, Mark{Type: TypeTextEnd, MessageID: i.message}
	if i.Kind == record.KindCall {
		content, end = CallArgs{TypeCallArgs, i.call, rest}, CallEnd{TypeCallEnd, i.call}
	}
	if rest != "" {
		s.emit(content)
	}
	p.open = false
	s.mark(i)
	s.emit(end)
}

func (s *Stream) writeCall(i item) {
	var p *part
	d := s.draft(i.draft)
	if d != nil {
		p = d.calls[i.index]
	}
	switch {
	case p == nil || !p.open:
		s.writeWholeCall(i)
	case p.shownTool == i.ToolCall.Name && (p.isPrefixOf(i.text) || sameJSON(i.text, string(p.shown))):
		s.settle(d, p, i)
	default:
		s.mark(i)
		s.stale = true
	}
}

// writeWholeCall sends a call of which nothing was shown.
func (s *Stream) writeWholeCall(i item) {
	if !s.holds(i) {
		s.retractLaterDrafts(i)
	}
	s.midMessage = true
	s.emit(CallStart{TypeCallStart, i.call, i.ToolCall.Name, i.message})
	s.emit(CallArgs{TypeCallArgs, i.call, i.text})
	s.midMessage = false
	s.mark(i)
	s.emit(CallEnd{TypeCallEnd, i.call})
}

// holds reports whether the client has the message that a call belongs to.
func (s *Stream) holds(call item) bool {
	d := s.draft(call.draft)
	return d != nil && d.shows() || slices.ContainsFunc(s.items, func(i item) bool {
		return i.message == call.message && s.sent[i.Hash()]
	})
}

// retractLaterDrafts removes the drafts that belong after a message about to be sent. They
// are sent again after it.
func (s *Stream) retractLaterDrafts(i item) {
	for _, d := range s.drafts {
		if d.name != i.draft && d.shows() && (i.Kind == record.KindMessage || d.node == "" || d.node == i.Node) {
			s.correct()
			return
		}
	}
}

// settleDrafts ends the drafts whose replies are recorded.
func (s *Stream) settleDrafts() {
	for _, i := range s.items {
		if i.draft != "" {
			s.ended[i.draft] = true
		}
	}
	if s.stale || slices.ContainsFunc(s.drafts, func(d *draft) bool { return s.ended[d.name] && d.shows() }) {
		s.correct()
	}
	s.drafts = slices.DeleteFunc(s.drafts, func(d *draft) bool {
		if s.ended[d.name] {
			s.endThought(d)
		}
		return s.ended[d.name]
	})
}

// correct sends a snapshot of all that was sent, which removes everything else from the
// client.
func (s *Stream) correct() {
	sent := map[string]bool{}
	for _, i := range s.items {
		if i.Kind == record.KindCall && s.sent[i.Hash()] {
			sent[i.call] = true
		}
	}
	for _, d := range s.drafts {
		s.close(d)
		s.retractCalls(d, sent)
	}
	for _, d := range s.drafts {
		d.forget()
	}
	s.stale, s.replaced = false, true
	s.emit(MessagesSnapshot{TypeMessagesSnapshot, messagesOf(s.items, func(i item) bool { return s.sent[i.Hash()] })})
}

// retractCalls sends results for calls that are not made. A client takes a call that a run
// began and that has no result for one that it has to make, even if a snapshot removes it.
func (s *Stream) retractCalls(d *draft, sent map[string]bool) {
	for _, n := range d.callNumbers() {
		if id := callID(d.name, n); d.calls[n].open && !sent[id] {
			s.emit(CallResult{TypeCallResult, voidID(id), id, textTakenBack, RoleTool, nil})
		}
	}
}

// voidID is the ID of the result of a call that is taken back.
func voidID(call string) string { return call + "-void" }

// textTakenBack is the result of a call that is taken back, until the snapshot that follows.
const textTakenBack = "The call is not made."
