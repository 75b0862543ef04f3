package agui

// Rests reports whether the stream is between two runs and has sent everything: what it
// sends next depends on nothing but what comes.
func (s *Stream) Rests() bool {
	return s.begun && !s.open && !s.failed && !s.stale && len(s.drafts) == 0 && s.keep < 0
}

// Adopt lets the reader of another stream go on with this one. It returns false where
// the two would not go on in the same way: both must rest, have received the same
// state (one that was loaded), and be for readers who hold nothing of their own.
func (s *Stream) Adopt(other *Stream) bool {
	if !s.Rests() || !other.Rests() || !s.sameAs(other) {
		return false
	}
	for id, n := range other.runs { // no run may have the ID of an earlier one
		s.runs[id] = max(s.runs[id], n)
	}
	return true
}

func (s *Stream) sameAs(other *Stream) bool {
	a, b := s.o, other.o
	return s.state.Same(other.state) &&
		a.isPlain() && b.isPlain() && a.ThreadID == b.ThreadID && a.After.IsZero() == b.After.IsZero() &&
		s.lastID == other.lastID
}

// isPlain reports whether a reader has everything from its stream.
func (o Options) isPlain() bool {
	return o.Known == nil && o.Answered == nil && o.RunID == "" && o.State == nil
}
