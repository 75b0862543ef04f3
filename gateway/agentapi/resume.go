package agentapi

import (
	"net/http"

	"agent-stop-and-go/gateway/service"
)

// maxBehind is how many conversations of a session a client may have missed.
const maxBehind = 16

// lastEvent returns the position that a client sends when it connects again, or nil.
func lastEvent(r *http.Request) (*position, error) {
	id := r.Header.Get("Last-Event-ID")
	if id == "" {
		return nil, nil
	}
	p, err := parsePosition(id)
	if err != nil {
		return nil, invalid("%q is not the id of an event", service.Printable(id))
	}
	return &p, nil
}

// id returns the position of the stream, whose form holds a text back.
func (s *stream) id(held string) string {
	p := position{turn: 1, phase: before}
	switch {
	case s.teller != nil:
		p = s.teller.position()
	case s.after != nil:
		p = *s.after
	}
	p.slot, p.held, p.heard = s.slot, held, s.heard
	return p.String()
}

// subscribe lets the stream get what commands answer.
func (s *stream) subscribe() {
	var last answered
	if s.after != nil {
		last = s.after.heard
	}
	s.events = s.notices.subscribe(s.caller.Own(s.client), last)
	if s.heard = s.events.begun; s.heard.owed {
		s.owed = &notice{}
	}
}

// resume returns the session with which the stream begins: that of the client's position, if there is one, also
// if another one has followed.
func (s *stream) resume(found session) (session, error) {
	if s.slot = found.slot; s.after == nil {
		return found, nil
	}
	behind := found.slot - s.after.slot
	if found.fixed {
		behind = 0
	}
	if behind < 0 || behind > maxBehind {
		s.after = nil
		return found, s.out.Anew()
	}
	s.out.Resume(s.after.held)
	s.resumed = true
	if behind == 0 {
		return found, nil
	}
	s.slot = s.after.slot
	return s.since(s.after.slot, found)
}

// next returns the session after one that has ended. A stream that was resumed leaves none out.
func (s *stream) next(ended session) (session, error) {
	found, err := s.find(s.ctx, s.caller, s.client)
	if err != nil || !s.resumed || found.fixed || found.slot-ended.slot <= 1 || found.slot-ended.slot > maxBehind {
		return found, err
	}
	return s.since(ended.slot+1, found)
}

// since returns the first session of a client from a slot on that was not deleted, at the latest found.
func (s *stream) since(slot int, found session) (session, error) {
	for ; slot < found.slot; slot++ {
		old := session{client: s.client, id: s.idOf(s.caller, s.client, slot), slot: slot, exists: true}
		var err error
		if old.view, err = s.Service.Conversation(s.ctx, old.id, ""); err == nil || !isGone(err) {
			return old, err
		}
	}
	return found, nil
}
