package agui

// Idle reports whether no run is open and everything has been sent. What an idle stream sends
// next depends only on its input.
func (s *Stream) Idle() bool {
	return s.started && !s.open && !s.failed && !s.stale && len(s.drafts) == 0 && s.keep < 0
}

// Adopt lets the reader of another stream continue with this one. It returns false if the two
// would continue differently: both must be idle, have received the same loaded state, and be
// for readers without messages or a state of their own.
func (s *Stream) Adopt(other *Stream) bool {
	if !s.Idle() || !other.Idle() || !s.sameAs(other) {
		return false
	}
	for id, n := range other.runs { // a run must not get the ID of an earlier one
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

// isPlain reports whether the reader has everything from the stream.
func (o Options) isPlain() bool {
	return o.Known == nil && o.ClientResult == nil && o.RunID == "" && o.State == nil
}
