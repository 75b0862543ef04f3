package endpoint

import (
	"context"
	"errors"
	"slices"

	"agent-stop-and-go/gateway/agui"
	"agent-stop-and-go/gateway/live"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

// follower writes what a reader gets to one client.
type follower struct {
	endpoint *Endpoint
	reader   *live.Reader
	out      *writer
	// stream is nil when the reader shares one with others; open reports whether a run is then.
	stream *agui.Stream
	open   bool
	// turn limits the stream to one; nil is everything.
	turn *turn
	// answer delivers what became of the request that the stream answers, if it does.
	answer <-chan service.Answer
	// notices are to be sent as soon as a run is open.
	notices []agui.Event

	wrote bool
	last  *record.State
}

// run returns when there is nothing more to write, or nobody to write to. It fails
// only before the stream has begun.
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
			return f.reported(err)
		}
	}
}

// reported is an error that the client can still read as a reply.
func (f *follower) reported(err error) error {
	if f.out.HeadersSent() {
		return nil
	}
	return unlessClosing(err)
}

// serve writes what the reader got.
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

// share leaves it to a shared stream what the client gets from now on, if it can be. That
// speaks AG-UI 1.0.
func (f *follower) share() {
	if f.out.legacy == nil && f.stream != nil && f.stream.Rests() && f.reader.Share(sharedStream{f.stream}) {
		f.stream, f.last, f.open = nil, nil, false
	}
}

func (f *follower) block(b *block) (done bool, err error) {
	f.open = b.open
	if len(b.data) > 0 {
		f.wrote, err = true, f.out.Write(b.data)
	}
	return b.over, err
}

func (f *follower) item(i live.Item) (done bool, err error) {
	switch {
	case i.Block != nil:
		return f.block(i.Block.(*block)) // ours are all there are
	case i.State != nil:
		done, err = f.state(i.State)
		if f.turn != nil && !f.turn.begun {
			f.turn.dropDrafts(i.Drafts)
		}
		return done, err
	}
	if f.turn != nil && !f.turn.begun {
		f.turn.hold(i)
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
	began := f.turn.begun
	part, begun := f.turn.part(*s)
	if !begun {
		return false, nil
	}
	f.reader.ClearEager()
	if !began && f.turn.alone {
		f.skip()
	}
	if err := f.send(f.stream.Update(part)); err != nil {
		return false, err
	}
	if !began && part.Running {
		err = f.release()
	}
	return !part.Running, err
}

// skip keeps what was before the turn from being sent. Where the turn cannot be told
// from that, the client gets all messages.
func (f *follower) skip() {
	if f.turn.missing {
		f.stream = agui.New(agui.Options{ThreadID: f.turn.ConversationID, Snapshot: true})
		return
	}
	f.stream.Update(f.turn.before)
}

// release writes what was said before the turn was seen to have begun.
func (f *follower) release() error {
	for _, i := range f.turn.release() {
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

// settle takes note that the request has settled.
func (f *follower) settle(ctx context.Context, a service.Answer) (done bool, err error) {
	if a.Err == nil {
		_, a.Err = f.endpoint.service.Reply(ctx, f.turn.Request, a.Settlement)
	}
	if f.turn.inBand && service.IsKind(a.Err, contract.KindWaiting) { // which the outcome shows better
		f.notices = append(f.notices, custom(agui.CustomRefused, map[string]any{"message": f.turn.message}))
	} else if a.Err != nil {
		return true, f.breakOff(a.Err)
	}
	f.turn.end(a.View)
	if f.last != nil && f.last.Tree != nil { // the last of the tree is to be read
		f.reader.RequestRead()
		return f.state(f.last)
	}
	state, err := f.endpoint.service.Record(ctx, a.View)
	if err != nil {
		return true, f.breakOff(err)
	}
	return f.state(state)
}

// breakOff ends a stream before its time. Before it has begun that is an error
// like any other; a turn's stream ends with an event that says so.
func (f *follower) breakOff(err error) error {
	if !f.out.HeadersSent() && (f.turn == nil || !f.turn.inBand) {
		return err
	}
	text, code := broken(f.endpoint.service.WithCause(f.endpoint.service.Closing(), err))
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

// broken is what the client learns of an error: that a new stream helps, or what
// it would have read as the body of an error.
func broken(err error) (text, code string) {
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
