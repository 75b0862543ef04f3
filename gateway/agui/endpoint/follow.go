package endpoint

import (
	"context"
	"errors"
	"slices"

	"agent-stop-and-go/gateway/agui"
	"agent-stop-and-go/gateway/live"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/turn"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

// follower writes the events of a reader to one client.
type follower struct {
	endpoint *Endpoint
	reader   *live.Reader
	out      *writer
	// stream is nil while the reader shares a stream; open then reports whether a run is
	// open.
	stream *agui.Stream
	open   bool
	// turn limits the stream to one turn; nil means everything.
	turn *turn.Turn
	// inBand: errors are sent as events only. onlyTurn: what precedes the turn is not sent.
	inBand, onlyTurn bool
	// answer delivers the settlement of the request that is answered with the stream, if
	// there is one.
	answer <-chan service.Answer
	// notices are sent as soon as a run is open.
	notices []agui.Event

	wrote bool
	last  *record.State
}

// run returns when the stream has ended or the client is gone. It fails only before the
// headers were sent.
func (f *follower) run(client context.Context) error {
	defer f.out.HurryOnClose()()
	closing := f.endpoint.service.Closing()
	for {
		var done bool
		var err error
		select {
		case <-client.Done():
			return nil
		case <-closing.Done():
			done, err = true, f.breakOff(service.ErrClosing)
		case a := <-f.answer:
			f.answer = nil
			done, err = f.settle(client, a)
		case <-f.reader.Wake():
			done, err = f.serve()
		}
		if done || err != nil {
			return f.replyError(err)
		}
	}
}

// replyError returns the error if the client can still read it as a reply.
func (f *follower) replyError(err error) error {
	if f.out.HeadersSent() {
		return nil
	}
	return closingError(err)
}

// serve writes what the reader has received.
func (f *follower) serve() (done bool, err error) {
	items, beat, end := f.reader.Take()
	f.wrote = false
	for _, i := range items {
		if done, err = f.item(i); done || err != nil {
			return done, err
		}
	}
	switch {
	case end != nil:
		return true, f.breakOff(end)
	case beat && !f.wrote:
		return false, f.out.KeepAlive()
	case f.turn == nil:
		f.share()
		return false, f.out.Begin()
	}
	return false, nil
}

// share lets a shared stream take over if possible. Shared streams are AG-UI 1.0.
func (f *follower) share() {
	if f.out.legacy == nil && f.stream != nil && f.stream.Idle() && f.reader.Share(sharedStream{f.stream}) {
		f.stream, f.last, f.open = nil, nil, false
	}
}

func (f *follower) block(b *block) (done bool, err error) {
	f.open = b.open
	if len(b.data) > 0 {
		f.wrote, err = true, f.out.Write(b.data)
	}
	return b.last, err
}

func (f *follower) item(i live.Item) (done bool, err error) {
	switch {
	case i.Block != nil:
		return f.block(i.Block.(*block)) // the only kind of block here
	case i.State != nil:
		done, err = f.state(i.State)
		if f.turn != nil && !f.turn.Started {
			f.turn.DropDrafts(i.Drafts)
		}
		return done, err
	}
	if f.turn != nil && !f.turn.Started {
		f.turn.Buffer(i)
		return false, nil
	}
	return false, f.piece(i)
}

func (f *follower) piece(i live.Item) error {
	if i.Draft != nil {
		return f.send(f.stream.Draft(*i.Draft))
	}
	return f.send(f.stream.Delta(*i.Delta))
}

func (f *follower) state(s *record.State) (done bool, err error) {
	f.last = s
	if f.turn == nil {
		err := f.send(f.stream.Update(*s))
		return s.Document.Status == contract.StatusCompleted, err
	}
	wasStarted := f.turn.Started
	part, started := f.turn.Extract(*s)
	if !started {
		return false, nil
	}
	f.reader.ClearEager()
	if !wasStarted && f.onlyTurn {
		f.skipEarlier()
	}
	if err := f.send(f.stream.Update(part)); err != nil {
		return false, err
	}
	if !wasStarted && part.Running {
		err = f.release()
	}
	return !part.Running, err
}

// skipEarlier marks everything before the turn as sent. If the turn's message is missing, the
// client gets all messages instead.
func (f *follower) skipEarlier() {
	if f.turn.Missing {
		f.stream = agui.New(agui.Options{ThreadID: f.turn.ConversationID, Snapshot: true})
		return
	}
	f.stream.Update(f.turn.Before)
}

// release writes the pieces that arrived before the turn was known to have begun.
func (f *follower) release() error {
	for _, i := range f.turn.Release() {
		if err := f.piece(i); err != nil {
			return err
		}
	}
	return nil
}

func (f *follower) send(events []agui.Event) error {
	if len(events) == 0 {
		return nil
	}
	at := 0
	if _, begins := events[0].Data.(agui.RunStarted); begins {
		at = 1
	}
	events = slices.Insert(events, at, f.notices...)
	f.notices, f.wrote = nil, true
	return f.out.send(events...)
}

// settle handles the settlement of the request.
func (f *follower) settle(ctx context.Context, a service.Answer) (done bool, err error) {
	if a.Err == nil {
		_, a.Err = f.endpoint.service.Reply(ctx, f.turn.Request, a.Settlement)
	}
	if f.inBand && service.IsKind(a.Err, contract.KindWaiting) { // the outcome of the run shows it
		f.notices = append(f.notices, custom(agui.CustomRefused, map[string]any{"message": f.turn.Message}))
	} else if a.Err != nil {
		return true, f.breakOff(a.Err)
	}
	f.turn.Settle(a.View)
	if f.last != nil && f.last.Tree != nil { // the final tree has yet to be read
		f.reader.RequestRead()
		return f.state(f.last)
	}
	state, err := f.endpoint.service.Record(ctx, a.View)
	if err != nil {
		return true, f.breakOff(err)
	}
	return f.state(state)
}

// breakOff ends a stream early. Before the headers were sent it returns the error; the stream
// of a turn ends with a RUN_ERROR.
func (f *follower) breakOff(err error) error {
	if !f.out.HeadersSent() && !f.inBand {
		return err
	}
	text, code := clientError(f.endpoint.service.WithCause(f.endpoint.service.Closing(), err))
	var events []agui.Event
	if code == codeReconnect && (f.open || f.stream != nil && f.stream.Open()) {
		events = append(events, custom(agui.CustomReconnect, nil))
	}
	if f.turn != nil {
		events = append(events, f.stream.Fail(text, code)...)
	}
	if code != codeReconnect {
		f.endpoint.logger.Warn("a stream of events broke off", "conversation", f.reader.ConversationID(), "error", err)
	}
	return f.out.send(events...)
}

const codeReconnect = "reconnect"

// clientError returns the text and the code of an error for the client: to reconnect, or what
// the body of an error reply would say.
func clientError(err error) (text, code string) {
	var e *service.Error
	err = service.Explain(err)
	switch {
	case errors.Is(err, service.ErrClosing), errors.Is(err, live.ErrSlow):
		return "the stream broke off; the work goes on", codeReconnect
	case errors.As(err, &e):
		return e.Text, string(e.Kind)
	}
	return service.InternalText, string(contract.KindInternal)
}
