package agui

import (
	"agent-stop-and-go/workflows/contract/generation"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// draft is a reply while it is generated.
type draft struct {
	name, node string
	text       part
	calls      map[int]*part
	// nameless: the client got a call first, so its message has no name.
	nameless bool
	// thought is the ID of the open thoughts, thoughts how many there were.
	thought  string
	thoughts int
}

// part is the text or a call of a draft. What was shown to the client may differ from what
// was received: another attempt may give another text.
type part struct {
	received  []byte // in this attempt
	tool      string // the tool that it calls in this attempt
	shown     []byte
	common    int // length of the common prefix of received and shown
	shownTool string
	open      bool // its start was sent, its end was not
}

// add appends a piece. It compares only the new bytes, because a reply may have very many
// pieces.
func (p *part) add(text string) {
	p.received = append(p.received, text...)
	for p.common < min(len(p.received), len(p.shown)) && p.received[p.common] == p.shown[p.common] {
		p.common++
	}
}

// restart begins another attempt.
func (p *part) restart() { p.received, p.tool, p.common = nil, "", 0 }

// show records that text was sent to the client.
func (p *part) show(text string) {
	p.shown = append(p.shown, text...)
	p.common = len(p.shown)
}

// forget records that the client holds nothing of the part.
func (p *part) forget() { p.shown, p.shownTool, p.common, p.open = nil, "", 0, false }

// unshown returns the text that can be sent without correcting what was shown before.
func (p *part) unshown() string {
	if p.tool != p.shownTool && p.open || p.common < len(p.shown) {
		return ""
	}
	return completeRunes(string(p.received[p.common:]))
}

// isPrefixOf reports whether text begins with what was shown.
func (p *part) isPrefixOf(text string) bool { return strings.HasPrefix(text, string(p.shown)) }

// completeRunes returns s without an incomplete rune at its end.
func completeRunes(s string) string {
	for n := 1; n < utf8.UTFMax && n <= len(s); n++ {
		if c := s[len(s)-n]; utf8.RuneStart(c) {
			if !utf8.FullRuneInString(s[len(s)-n:]) {
				return s[:len(s)-n]
			}
			break
		}
	}
	return s
}

// shows reports whether the client holds a part that may have to be corrected.
func (d *draft) shows() bool {
	if d.text.open {
		return true
	}
	for _, p := range d.calls {
		if p.open {
			return true
		}
	}
	return false
}

// call returns the call with a number, which it creates if necessary.
func (d *draft) call(n int) *part {
	if d.calls[n] == nil {
		d.calls[n] = &part{}
	}
	return d.calls[n]
}

// callNumbers returns the numbers of the calls, in order.
func (d *draft) callNumbers() []int { return slices.Sorted(maps.Keys(d.calls)) }

// Draft begins a draft, or another attempt of one.
func (s *Stream) Draft(d generation.Draft) []Event {
	if d.ID == "" || s.ended[d.ID] || s.knows(d.ID) {
		return nil
	}
	old := s.draft(d.ID)
	if old == nil {
		s.drafts = append(s.drafts, &draft{name: d.ID, node: d.Node, calls: map[int]*part{}})
	} else {
		s.endThought(old)
		old.text.restart()
		for _, p := range old.calls {
			p.restart()
		}
	}
	if d.Attempt > 1 && s.open {
		s.emit(attempt(d))
	}
	return s.flush()
}

func (s *Stream) draft(name string) *draft {
	n := slices.IndexFunc(s.drafts, func(d *draft) bool { return d.name == name })
	if n < 0 {
		return nil
	}
	return s.drafts[n]
}

// Delta adds a piece to a draft that was announced with Draft.
func (s *Stream) Delta(piece generation.Delta) []Event {
	d := s.draft(piece.DraftID)
	if d == nil {
		return nil
	}
	switch piece.Kind {
	case generation.Reasoning:
		s.showThought(d, piece.Text)
	case generation.Text:
		d.text.add(piece.Text)
	case generation.Call:
		d.call(piece.Call).tool = piece.Tool
	case generation.Arguments:
		d.call(piece.Call).add(piece.Text)
	}
	s.show(d)
	return s.flush()
}

// show sends the new text of a draft.
func (s *Stream) show(d *draft) {
	if !s.open {
		return
	}
	s.showText(d)
	for _, n := range d.callNumbers() {
		if !s.showCall(d, n) {
			return
		}
	}
}

func (s *Stream) showText(d *draft) {
	p := &d.text
	text := p.unshown()
	if text == "" {
		return
	}
	s.endThought(d)
	if !p.open {
		p.open = true
		s.emit(TextStart{TypeTextStart, d.name, RoleAssistant, s.nameOf(d.node)})
	}
	p.show(text)
	s.emit(Piece{TypeTextContent, d.name, text})
}

// showCall sends the new part of a call. It returns false if the beginning of the call or of
// the one before it was lost: later calls cannot be shown then.
func (s *Stream) showCall(d *draft, n int) bool {
	p := d.calls[n]
	if before := d.calls[n-1]; n > 0 && (before == nil || !before.open) || p.tool == "" && !p.open {
		return false
	}
	if !p.open {
		s.endThought(d)
		p.open, p.shownTool = true, p.tool
		d.nameless = d.nameless || !d.text.open
		s.emit(CallStart{TypeCallStart, callID(d.name, n), p.tool, d.name})
	}
	if text := p.unshown(); text != "" {
		s.endThought(d)
		p.show(text)
		s.emit(CallArgs{TypeCallArgs, callID(d.name, n), text})
	}
	return true
}

// showThought sends thoughts. They are not part of any recorded message.
func (s *Stream) showThought(d *draft, text string) {
	if !s.open || text == "" {
		return
	}
	if d.thought == "" {
		for d.thoughts++; s.o.knows(thoughtID(d)); d.thoughts++ {
		}
		d.thought = thoughtID(d)
		s.emit(Mark{Type: TypeReasoningStart, MessageID: d.thought})
		s.emit(Mark{Type: TypeThoughtStart, MessageID: d.thought, Role: RoleReasoning})
	}
	s.emit(Piece{TypeThoughtContent, d.thought, text})
}

func thoughtID(d *draft) string { return fmt.Sprintf("%s-reasoning-%d", d.name, d.thoughts) }

func (s *Stream) endThought(d *draft) {
	if d.thought == "" {
		return
	}
	id := d.thought
	d.thought = ""
	s.emit(Mark{Type: TypeThoughtEnd, MessageID: id})
	s.emit(Mark{Type: TypeReasoningEnd, MessageID: id})
}

// nameOf returns the name under which a node speaks, or "" for an agent of one node.
func (s *Stream) nameOf(node string) string {
	if s.state.Tree == nil {
		return ""
	}
	return node
}

// close ends the open parts of a draft as they are.
func (s *Stream) close(d *draft) {
	s.endThought(d)
	if d.text.open {
		s.emit(Mark{Type: TypeTextEnd, MessageID: d.name})
	}
	for _, n := range d.callNumbers() {
		if d.calls[n].open {
			s.emit(CallEnd{TypeCallEnd, callID(d.name, n)})
		}
	}
}

// forget records that the client holds nothing of the draft.
func (d *draft) forget() {
	d.nameless = false
	d.text.forget()
	for _, p := range d.calls {
		p.forget()
	}
}
