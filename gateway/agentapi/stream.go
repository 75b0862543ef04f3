package agentapi

import (
	"context"
	"errors"
	"time"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/live"
	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/sse"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

// form is a stream in the form of one port.
type form interface {
	Listener
	KeepAlive() error
	// Resume goes on after a stream that held a text back.
	Resume(held string)
	// Anew says that what follows was told before, perhaps otherwise: the client's position is unknown.
	Anew() error
	// Broken ends the stream: the client should connect again.
	Broken(text string) error
}

// How soon a stream looks again for a session that has not begun, which another gateway may begin, and how
// long it is silent at most. It looks less and less often; this gateway wakes it.
const (
	lookAgain = time.Second
	silence   = 15 * time.Second
)

// recent is how long after its end a turn is sent once more to a shell that connects: it may have lost
// the connection meanwhile.
const recent = time.Minute

// stream is an open stream of a client.
type stream struct {
	*Endpoint
	ctx    context.Context // ends when the client is gone, or proves no more who it is
	caller service.Caller
	client string
	out    form
	w      *sse.Writer
	from   func(*record.State) int // the turn with which telling begins
	events *subscription
	// teller has what was sent of the conversation told, which is in a slot; it outlives a reader of it.
	teller *Teller
	told   string
	slot   int
	// after is the position after which the client goes on, until its conversation is sent. resumed: the
	// stream has begun so.
	after   *position
	resumed bool
	// heard is the last answer of commands; owed has it until a turn ends that it belongs to.
	heard answered
	owed  *notice
}

// eventAnew is the event of a stream that does not go on where the client wants. Clients that send no
// Last-Event-ID never get it.
const eventAnew = "reset"

// follow serves a stream until the client is gone. It fails only before the headers are sent.
func (e *Endpoint) follow(c echo.Context, client string, make func(*sse.Writer, func(held string) string) form, from func(*record.State) int) error {
	call := request.From(c.Request().Context())
	s := &stream{Endpoint: e, ctx: call.Client, caller: call.Caller, client: client, from: from}
	var err error
	if s.after, err = lastEvent(c.Request()); err != nil {
		return err
	}
	found, fresh := e.notices.fresh(s.caller.Own(client))
	if !fresh || s.after != nil {
		if found, err = e.find(c.Request().Context(), s.caller, client); err != nil {
			return err
		}
	}
	call.ConversationID = found.id
	s.w = sse.New(c.Response(), 200, e.Service.Closing())
	s.out = make(s.w, s.id)
	defer s.w.HurryOnClose()()
	s.subscribe()
	defer s.events.close()
	if err := s.w.Begin(); err != nil {
		return nil
	}
	if err := s.run(found); s.ctx.Err() == nil {
		if !errors.Is(err, service.ErrClosing) && !errors.Is(err, live.ErrSlow) {
			e.Logger.Warn("a stream of tokens broke off", "conversation", found.id, "error", err)
		}
		text := "the stream broke off; the work goes on: connect again"
		if errors.Is(err, errUnread) {
			text = "the stream broke off: what commands answered was not read, and is lost; connect again"
		}
		_ = s.out.Broken(text)
	}
	return nil
}

// run tells one conversation of the session after the other, and returns why it ended.
func (s *stream) run(found session) error {
	first := true
	found, err := s.resume(found)
	if err != nil {
		return err
	}
	for {
		if !found.exists {
			first = false
			if found, err = s.wait(found.slot); err != nil {
				return err
			}
		}
		if err = s.tell(found, first); err != nil && !isGone(err) {
			return err
		}
		first = false
		if found.fixed {
			return s.idle()
		}
		last := found.id
		if found, err = s.next(found); err == nil && found.exists && found.id == last { // it is about to end
			if err = s.pause(lookAgain); err == nil {
				found, err = s.next(found)
			}
		}
		if err != nil {
			return err
		}
	}
}

// idle keeps a stream open of a conversation that has ended.
func (s *stream) idle() error {
	for {
		if err := s.pause(silence); err != nil {
			return err
		}
		if err := s.out.KeepAlive(); err != nil {
			return err
		}
	}
}

// wait waits until the session begins, in a slot if nothing else was told.
func (s *stream) wait(slot int) (session, error) {
	if s.teller == nil {
		s.slot = slot
	}
	quiet, again := s.Now(), lookAgain
	for {
		if err := s.answer(); err != nil {
			return session{}, err
		}
		if found, ok := s.notices.fresh(s.caller.Own(s.client)); ok && found.id != s.told {
			return found, nil
		}
		found, err := s.find(s.ctx, s.caller, s.client)
		if err != nil || found.exists {
			return found, err
		}
		if err := s.pause(again); err != nil {
			return found, err
		}
		again = min(2*again, silence)
		if s.Now().Sub(quiet) >= silence {
			quiet = s.Now()
			if err := s.out.KeepAlive(); err != nil {
				return found, err
			}
		}
	}
}

// pause waits for a time, or until something happens to the client.
func (s *stream) pause(d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-s.ctx.Done():
		return s.ctx.Err()
	case <-s.Service.Closing().Done():
		return service.ErrClosing
	case <-s.events.wake:
	case <-timer.C:
	}
	return nil
}

// tell tells a conversation until it ends, or the client is gone. first: it is the one that was there
// when the stream was opened.
func (s *stream) tell(found session, first bool) error {
	from := 1
	if !found.fresh {
		state, err := s.Service.Record(s.ctx, found.view)
		if err != nil {
			return err
		}
		if first {
			from = s.begin(state)
		}
	}
	if s.teller == nil || s.told != found.id { // otherwise it goes on where the reader before has ended
		s.told, s.slot, s.teller = found.id, found.slot, newTellerFrom(s, found.view, from, s.link)
		if s.after != nil {
			s.teller.resumeAfter(*s.after, s.out.Anew)
			s.after = nil
		}
	}
	if err := s.answer(); err != nil {
		return err
	}
	reader, err := s.Followers.Join(s.ctx, found.id, false)
	if err != nil {
		return err
	}
	defer s.Followers.Leave(reader)
	for {
		select {
		case <-s.ctx.Done():
			return s.ctx.Err()
		case <-s.Service.Closing().Done():
			return service.ErrClosing
		case <-s.events.wake:
			if err := s.answer(); err != nil {
				return err
			}
			if s.owed != nil { // by a newer state than the stream has seen
				reader.RequestRead()
			}
		case <-reader.Wake():
			if ended, err := s.serve(reader); ended || err != nil {
				return err
			}
		}
	}
}

// begin returns the turn with which telling begins. What commands have answered is the last thing that
// the client has sent: then a turn that has ended is not told again.
func (s *stream) begin(state *record.State) int {
	s.events.mu.Lock()
	answered := len(s.events.items) > 0
	s.events.mu.Unlock()
	if answered && state.Over() {
		return turns(state) + 1
	}
	return s.from(state)
}

// serve tells what a reader has, and reports whether the conversation has ended.
func (s *stream) serve(reader *live.Reader) (ended bool, err error) {
	items, beat, end := reader.Take()
	if err := s.answer(); err != nil { // what was answered before something was said
		return false, err
	}
	for _, i := range items {
		if err := s.teller.Item(i); err != nil {
			return false, err
		}
		ended = ended || i.State != nil && i.State.Document.Status == contract.StatusCompleted
	}
	if err := s.settle(); err != nil {
		return false, err
	}
	switch {
	case end != nil:
		return false, end
	case beat:
		return ended, s.out.KeepAlive()
	}
	return ended, nil
}

func (s *stream) link(uuid string) string { return linkTo(s.caller, uuid) }

// linkTo returns the address at which people read an approval whole, and decide it.
func linkTo(c service.Caller, uuid string) string { return c.BaseURL + "/#/a/" + uuid }

// turns returns the number of turns of a conversation.
func turns(s *record.State) int {
	entries := s.Entries()
	if len(entries) == 0 {
		return 0
	}
	return entries[len(entries)-1].Turn
}

// lastSent is the turn of the last message that was sent, also if it waits for others.
func lastSent(s *record.State) int { return max(1, turns(s)+s.Document.Queued) }

// running is the turn that runs or waits, or has just ended, or else the next one.
func (e *Endpoint) running(s *record.State) int {
	n := turns(s)
	if entries := s.Entries(); s.Over() && (n == 0 || entries[len(entries)-1].CreatedAt.Before(e.Now().Add(-recent))) {
		return n + 1
	}
	return max(1, n)
}
