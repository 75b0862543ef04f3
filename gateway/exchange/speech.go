package exchange

import (
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
}

// NewSpeech returns a speech that nothing was said of. tell gets its pieces.
func NewSpeech(tell func(string) error) *Speech { return &Speech{tell: tell, done: map[string]bool{}} }

// Open reports whether a draft is being told.
func (s *Speech) Open() bool { return s.current != "" }

func (s *Speech) say(piece string) error {
	if piece == "" {
		return nil
	}
	s.said.WriteString(piece)
	return s.tell(piece)
}

// begin says the separator if something was said.
func (s *Speech) begin() error {
	if s.said.Len() == 0 || strings.HasSuffix(s.said.String(), separator) {
		return nil
	}
	return s.say(separator)
}

// Piece takes a draft or a piece of one.
func (s *Speech) Piece(i live.Item) error {
	switch {
	case i.Draft != nil:
		s.draft(*i.Draft)
		return nil
	case i.Delta == nil || i.Delta.Kind != generation.Text || i.Delta.Text == "":
		return nil
	case s.current == "" && !s.done[i.Delta.DraftID]:
		s.current, s.told = i.Delta.DraftID, ""
		s.heard.Reset()
		if err := s.begin(); err != nil {
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
	case s.current == d.ID: // the model is asked again
		s.heard.Reset()
	case s.current != "" && s.node == d.Node:
		s.current = ""
	}
	if s.current == "" {
		s.node = d.Node
	}
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

// Entries takes the entries of the turn so far; last: there will be no more.
func (s *Speech) Entries(entries []record.Entry, last bool) error {
	for _, e := range entries {
		if e.Kind != record.KindText || s.done[e.ID] {
			continue
		}
		draft := e.DraftID
		if s.current != "" && draft != s.current && !last {
			continue
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
	if draft != "" && draft == s.current {
		s.current = ""
		if strings.HasPrefix(text, s.told) {
			return s.catchUp(text)
		}
	}
	if text == "" {
		return nil
	}
	if err := s.begin(); err != nil {
		return err
	}
	return s.say(text)
}
