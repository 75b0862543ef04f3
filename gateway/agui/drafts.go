package agui

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"agent-stop-and-go/workflows/contract"
)

// draft is a reply that is being made.
type draft struct {
	name, node string
	text       part
	calls      map[int]*part
	// nameless: the client was shown a call first, and knows the message without a name.
	nameless bool
	// thought is the ID of the thoughts that are open, thoughts how often there were.
	thought  string
	thoughts int
}

// part is a text or a call of a draft. What the client was shown may differ from
// what was said: another attempt may have said something else.
type part struct {
	said      []byte // in this attempt
	tool      string // that it calls in this attempt
	shown     []byte
	same      int // how many bytes from the first are the same in both
	shownTool string
	open      bool // the client was shown that it begins, and not that it ends
}

// add takes a piece of what is said. A reply may have very many.
func (p *part) add(text string) {
	p.said = append(p.said, text...)
	for p.same < min(len(p.said), len(p.shown)) && p.said[p.same] == p.shown[p.same] {
		p.same++
	}
}

// restart begins another attempt.
func (p *part) restart() { p.said, p.tool, p.same = nil, "", 0 }

// show takes note that what is news was shown.
func (p *part) show(text string) {
	p.shown = append(p.shown, text...)
	p.same = len(p.shown)
}

// hide takes note that the client does not hold any of it.
func (p *part) hide() { p.shown, p.shownTool, p.same, p.open = nil, "", 0, false }

// unshown is what can be shown without taking anything back.
func (p *part) unshown() string {
	if p.tool != p.shownTool && p.open || p.same < len(p.shown) {
		return ""
	}
	return completeRunes(string(p.said[p.same:]))
}

// isPrefixOf reports whether a text begins with what was shown.
func (p *part) isPrefixOf(text string) bool { return strings.HasPrefix(text, string(p.shown)) }

// completeRunes is a text without the beginning of a rune at its end.
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

// shows reports whether the client holds something that may have to be taken back.
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

// call is a call of the draft.
func (d *draft) call(n int) *part {
	if d.calls[n] == nil {
		d.calls[n] = &part{}
	}
	return d.calls[n]
}

// callNumbers are the numbers of the calls, in order.
func (d *draft) callNumbers() []int { return slices.Sorted(maps.Keys(d.calls)) }

// Draft takes note that a reply is being made, or made again.
func (s *Stream) Draft(d contract.Draft) []Event {
	if d.ID == "" || s.dead[d.ID] || s.knows(d.ID) {
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

// Delta writes a piece of a draft that Draft has announced.
func (s *Stream) Delta(piece contract.Delta) []Event {
	d := s.draft(piece.DraftID)
	if d == nil {
		return nil
	}
	switch piece.Kind {
	case contract.DeltaReasoning:
		s.showThought(d, piece.Text)
	case contract.DeltaText:
		d.text.add(piece.Text)
	case contract.DeltaCall:
		d.call(piece.Call).tool = piece.Tool
	case contract.DeltaArguments:
		d.call(piece.Call).add(piece.Text)
	}
	s.show(d)
	return s.flush()
}

// show shows what of a draft is new.
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

// showCall shows what of a call is new. Behind one whose beginning was lost none is
// shown: it returns false.
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

// showThought shows thoughts. They are in no message that lasts.
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

// nameOf is the name by which a node speaks: none for an agent that is one node.
func (s *Stream) nameOf(node string) string {
	if s.state.Tree == nil {
		return ""
	}
	return node
}

// close ends what of a draft is open, as it is.
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

// hide takes note that the client does not hold any of a draft.
func (d *draft) hide() {
	d.nameless = false
	d.text.hide()
	for _, p := range d.calls {
		p.hide()
	}
}
