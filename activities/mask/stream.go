package mask

// Stream hides secrets in a text that comes in pieces. It holds back what may be the
// beginning of a secret. The word for one is shown as soon as it is certain; more that
// overlaps it adds nothing. Make it with Mask.Stream.
type Stream struct {
	mask *Mask
	held string
	// covered is how much of held belongs to a secret whose word has been shown.
	covered int
}

// Stream begins a text.
func (m *Mask) Stream() *Stream { return &Stream{mask: m} }

// Write takes the next piece, and returns what may be shown by now.
func (s *Stream) Write(piece string) string { return s.take(piece, unknown) }

// End returns the rest.
func (s *Stream) End() string { return s.take("", nothing) }

func (s *Stream) take(piece string, behind ending) string {
	if s.mask == nil {
		return piece
	}
	text := s.held + piece
	shown, open, covered := s.mask.pass(text, s.covered, behind, unchanged)
	s.held, s.covered = text[open:], covered
	return shown
}
