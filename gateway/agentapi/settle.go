package agentapi

import (
	"agent-stop-and-go/gateway/live"
	"agent-stop-and-go/workflows/contract"
)

// answer sends what commands have answered.
func (s *stream) answer() error {
	items, err := s.events.take()
	if err != nil {
		return err
	}
	for _, n := range items {
		if err := s.settle(); err != nil {
			return err
		}
		s.heard.n, s.heard.owed = n.number, n.last
		if s.owed = nil; n.last {
			s.owed = &n
		}
		if err := s.out.Token(n.text + "\n"); err != nil {
			return err
		}
	}
	return s.settle()
}

// settle ends the turn of its own that an answer of commands is. If a turn goes on, or a message was sent
// before whose turn the stream has not seen yet, the end of that turn is its end.
func (s *stream) settle() error {
	if s.owed == nil || !s.knows(*s.owed) {
		return nil
	}
	if s.teller == nil || s.teller.Idle() {
		return s.Done()
	}
	s.forgive()
	return nil
}

// knows reports whether the stream has seen what was there when commands answered.
func (s *stream) knows(n notice) bool {
	switch t := s.teller; {
	case t == nil:
		return !n.seen.exists
	case t.after != nil:
		return false
	case n.seen.slot == s.slot:
		return !live.Older(t.latest, n.seen.view)
	}
	return n.seen.slot < s.slot || !n.seen.exists
}

func (s *stream) forgive() { s.owed, s.heard.owed = nil, false }

// Token implements Listener.
func (s *stream) Token(text string) error { return s.out.Token(text) }

// Gate implements Listener.
func (s *stream) Gate(p contract.PendingApproval, link string) error { return s.out.Gate(p, link) }

// Done implements Listener.
func (s *stream) Done() error {
	s.forgive()
	return s.out.Done()
}

// Failed implements Listener.
func (s *stream) Failed(text string) error {
	s.forgive()
	return s.out.Failed(text)
}
