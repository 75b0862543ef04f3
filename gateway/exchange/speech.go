package exchange

import (
	"slices"
	"strings"

	"agent-stop-and-go/gateway/history"
	"agent-stop-and-go/gateway/live"
	"agent-stop-and-go/workflows/contract/generation"
	"agent-stop-and-go/workflows/record"
)

// separator is between the texts of a reply.
const separator = "\n\n"

// Speech makes one text of the drafts and the entries of a turn. It only grows.
type Speech struct {
	tell func(piece string) error
	said strings.Builder
	// current is the draft that is being told, "" if there is none. node is its node, and heard
	// what has come of it since it last began.
	current, node string
	heard         strings.Builder
	told          string // what was told of it
	done          map[string]bool
	// awaited is the draft with which a resumed speech goes on. past are those that were told in part and
	// given up, by the checksums of their IDs.
	awaited *Part
	past    []uint32
}

// NewSpeech returns a speech that nothing was said of. tell gets its pieces.
func NewSpeech(tell func(string) error) *Speech { return &Speech{tell: tell, done: map[string]bool{}} }

// Open reports whether a draft is being told.
func (s *Speech) Open() bool { return s.current != "" || s.awaited != nil }

func (s *Speech) say(piece string) error {
	if piece == "" {
		return nil
	}
	s.said.WriteString(piece)
	return s.tell(piece)
}

// separator returns what goes before the next text.
func (s *Speech) separator() string {
	if s.said.Len() == 0 || strings.HasSuffix(s.said.String(), separator) {
		return ""
	}
	return separator
}

// Piece takes a draft or a piece of one.
func (s *Speech) Piece(i live.Item) error {
	switch {
	case i.Draft != nil:
		s.draft(*i.Draft)
		return nil
	case i.Delta == nil || i.Delta.Kind != generation.Text || i.Delta.Text == "", slices.Contains(s.past, keyOf(i.Delta.DraftID)):
		return nil
	case s.awaited != nil:
		return s.await(*i.Delta)
	case s.current == "" && !s.done[i.Delta.DraftID]:
		s.current, s.told = i.Delta.DraftID, ""
		s.heard.Reset()
		if err := s.say(s.separator()); err != nil {
			return err
		}
	case s.current != i.Delta.DraftID:
		return nil // it is sent when it is recorded
	}
	s.heard.WriteString(i.Delta.Text)
	return s.catchUp(s.heard.String())
}

// draft takes the beginning of a draft. A node that begins another one has given up the former.
func (s *Speech) draft(d generation.Draft) {
	switch {
	case s.awaited != nil && s.awaited.Draft == keyOf(d.ID):
		s.node = d.Node
		s.heard.Reset()
	case s.current == d.ID: // the model is asked again
		s.heard.Reset()
	case s.current != "" && s.node == d.Node:
		s.giveUp()
	}
	if s.current == "" && s.awaited == nil {
		s.node = d.Node
	}
}

// maxPast is how many drafts are remembered that were given up.
const maxPast = 16

// giveUp ends telling the present draft.
func (s *Speech) giveUp() {
	s.past = append(s.past, keyOf(s.current))
	s.past = s.past[max(0, len(s.past)-maxPast):]
	s.current = ""
}

// catchUp tells what the current draft has more than was told. What differs is left until it is
// recorded.
func (s *Speech) catchUp(text string) error {
	more, ok := strings.CutPrefix(text, s.told)
	if !ok {
		return nil
	}
	s.told = text
	return s.say(more)
}

// Takes reports whether Entries would take an entry now.
func (s *Speech) Takes(e record.Entry, last bool) bool {
	return e.Kind == record.KindText && !s.done[e.ID] && (last || !s.Open() || s.isCurrent(e.DraftID) || s.replaces(e))
}

// replaces reports whether an entry shows that the awaited draft was given up: its node has gone on.
func (s *Speech) replaces(e record.Entry) bool {
	return s.awaited != nil && s.awaited.Node == keyOf(e.Node)
}

// isCurrent reports whether a draft is the one that is being told.
func (s *Speech) isCurrent(draft string) bool {
	return draft != "" && (draft == s.current || s.awaited != nil && s.awaited.Draft == keyOf(draft))
}

// Entries takes the entries of the turn so far; last: there will be no more.
func (s *Speech) Entries(entries []record.Entry, last bool) error {
	for _, e := range entries {
		if !s.Takes(e, last) {
			continue
		}
		draft := e.DraftID
		if s.replaces(e) && !s.isCurrent(draft) {
			s.awaited = nil
		}
		s.done[e.ID] = true
		if draft != "" {
			s.done[draft] = true
		}
		if err := s.entry(history.Text(e), draft); err != nil {
			return err
		}
	}
	return nil
}

func (s *Speech) entry(text, draft string) error {
	if s.isCurrent(draft) {
		part := s.awaited
		s.current, s.awaited = "", nil
		switch {
		case part != nil && part.begins(text):
			s.told = text[:part.Len]
			return s.catchUp(text)
		case part == nil && strings.HasPrefix(text, s.told):
			return s.catchUp(text)
		}
	}
	if text == "" {
		return nil
	}
	return s.say(s.separator() + text) // in one piece, so that nothing can come between
}
