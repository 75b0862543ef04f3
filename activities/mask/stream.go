package mask

// Stream hides secrets in a text that comes in pieces. It holds back what may be the
// beginning of a secret. Make it with Mask.Stream.
type Stream struct {
	mask *Mask
	held string
}

// Stream begins a text.
func (m *Mask) Stream() *Stream { return &Stream{mask: m} }

// Write takes the next piece, and returns what may be shown by now.
func (s *Stream) Write(piece string) string { return s.take(piece, false) }

// End returns the rest.
func (s *Stream) End() string { return s.take("", true) }

func (s *Stream) take(piece string, final bool) string {
	if s.mask == nil {
		return piece
	}
	text := s.held + piece
	shown, n := s.mask.pass(text, final, unchanged)
	s.held = text[n:]
	return shown
}
