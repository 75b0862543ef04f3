package exchange

import (
	"hash/crc32"

	"agent-stop-and-go/gateway/history"
	"agent-stop-and-go/workflows/contract/generation"
	"agent-stop-and-go/workflows/record"
)

// Part is how much a Speech has told of the draft that it is telling: enough for another Speech, in another
// process too, to go on with it.
type Part struct {
	// Draft and Node are checksums of the draft's ID and of its node; 0 if none is being told.
	Draft, Node uint32
	// Len is the length in bytes of what was told, Sum its checksum.
	Len int
	Sum uint32
	// Past are checksums of the IDs of drafts of the turn that were told in part and given up.
	Past []uint32
}

// keyOf returns the checksum of a name.
func keyOf(name string) uint32 { return crc32.ChecksumIEEE([]byte(name)) }

// begins reports whether a text begins with what was told.
func (p Part) begins(text string) bool {
	return len(text) >= p.Len && crc32.ChecksumIEEE([]byte(text[:p.Len])) == p.Sum
}

// Part returns how much was told of the present draft; ok is false if there is nothing to say.
func (s *Speech) Part() (p Part, ok bool) {
	switch {
	case s.awaited != nil:
		p = *s.awaited
	case s.current != "":
		p = Part{Draft: keyOf(s.current), Node: keyOf(s.node), Len: len(s.told), Sum: crc32.ChecksumIEEE([]byte(s.told))}
	}
	p.Past = s.past
	return p, p.Draft != 0 || len(p.Past) > 0
}

// ResumeSpeech returns a speech that goes on after another one, which has told these entries of the turn, and
// part of a draft if there was one.
func ResumeSpeech(tell func(string) error, told []record.Entry, part *Part) *Speech {
	s := NewSpeech(tell)
	for _, e := range told {
		if e.Kind != record.KindText {
			continue
		}
		s.done[e.ID] = true
		if e.DraftID != "" {
			s.done[e.DraftID] = true
		}
		s.said.WriteString(history.Text(e))
	}
	if part == nil {
		return s
	}
	if s.past = part.Past; part.Draft != 0 {
		s.awaited = part
	}
	if part.Len > 0 || len(part.Past) > 0 {
		s.said.WriteByte(' ') // something was said that is no separator
	}
	return s
}

// await takes a piece of text while the draft is awaited with which the speech goes on. A draft that begins
// otherwise than the part that was told is left until it is recorded, as one whose model is asked again.
func (s *Speech) await(d generation.Delta) error {
	if s.awaited.Draft != keyOf(d.DraftID) {
		return nil
	}
	s.heard.WriteString(d.Text)
	text := s.heard.String()
	if len(text) < s.awaited.Len || !s.awaited.begins(text) {
		return nil
	}
	s.current, s.told, s.awaited = d.DraftID, text[:s.awaited.Len], nil
	return s.catchUp(text)
}
