package mask

// Stream hides secrets in a text that arrives in pieces. It holds back text that may be the
// beginning of a secret. A secret is replaced as soon as it is certain; another one that
// overlaps it adds no second word. Make it with Mask.Stream.
type Stream struct {
	mask *Mask
	held string
	// covered is the number of bytes of held that belong to a secret whose word has been
	// returned.
	covered int
}

// Stream returns a stream for one text.
func (m *Mask) Stream() *Stream { return &Stream{mask: m} }

// Write adds the next piece, and returns the text that is decided by now.
func (s *Stream) Write(piece string) string { return s.take(piece, mayContinue) }

// End returns the rest.
func (s *Stream) End() string { return s.take("", complete) }

func (s *Stream) take(piece string, behind ending) string {
	if s.mask == nil {
		return piece
	}
	text := s.held + piece
	shown, open, covered := s.mask.pass(text, s.covered, behind, unchanged)
	s.held, s.covered = text[open:], covered
	return shown
}
