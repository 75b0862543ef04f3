package exchange

import (
	"context"
	"slices"
	"time"

	"agent-stop-and-go/gateway/live"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/record"
)

// Listener gets a reply while it is written.
type Listener interface {
	// Tell gets the next piece of the text.
	Tell(piece string) error
	// Entries gets the entries of the reply so far, as often as there are more.
	Entries(entries []record.Entry) error
	// KeepAlive is called when nothing was told for a while.
	KeepAlive() error
}

// Wait returns the reply when the request has settled. It waits as long as ctx.
func (x *Exchange) Wait(ctx context.Context) (Reply, error) {
	if x.settlement == nil {
		s, err := x.of.Service.Await(ctx, x.turn.Request)
		if err != nil {
			return Reply{}, err
		}
		x.settlement = &s
	}
	return x.settled(ctx, *x.settlement)
}

// settled returns the reply at a settlement.
func (x *Exchange) settled(ctx context.Context, s service.Settlement) (Reply, error) {
	answer, err := x.of.Service.Reply(ctx, x.turn.Request, s)
	if err != nil {
		return Reply{}, err
	}
	x.turn.Settle(s.View)
	state, err := x.of.Service.Record(ctx, s.View)
	if err != nil {
		return Reply{}, err
	}
	return x.opened(ctx, state, answer.Result)
}

// maxOpening bounds the wait for calls that are not open yet; opening is the time to the first look, and each
// further one comes after twice as long: the call may be one of the agent, which runs for a while.
const (
	maxOpening = 2 * time.Second
	opening    = 20 * time.Millisecond
)

// opened returns the reply at a state. If calls wait for the client, it waits until the other calls of
// the reply wait, too: a client gets all calls of a reply at once. A request settles with the first.
func (x *Exchange) opened(ctx context.Context, state *record.State, result *service.Result) (Reply, error) {
	end := time.Now().Add(maxOpening)
	for pause := opening; ; pause *= 2 {
		part, _ := x.turn.Extract(*state)
		reply := x.replyOf(part, result)
		reply.State = state
		if !reply.opens() || time.Now().After(end) {
			return reply, nil
		}
		select {
		case <-ctx.Done():
			return Reply{}, ctx.Err()
		case <-x.of.Service.Closing().Done():
			return Reply{}, service.ErrClosing
		case <-time.After(pause):
		}
		next, err := x.of.Service.State(ctx, x.turn.ConversationID)
		if err != nil {
			return reply, nil // what waits is known
		}
		state = next
	}
}

// Follow tells the reply to a listener while it is written, and returns it. It returns early, with
// the error of its context, if the client is gone.
func (x *Exchange) Follow(ctx context.Context, to Listener) (Reply, error) {
	return x.follow(ctx, &follow{Exchange: x, to: to, speech: NewSpeech(to.Tell)})
}

// FollowHeld is Follow that does not tell that the model failed: only Failure of the reply says it.
func (x *Exchange) FollowHeld(ctx context.Context, to Listener) (Reply, error) {
	return x.follow(ctx, &follow{Exchange: x, to: to, speech: NewSpeech(to.Tell), held: true})
}

func (x *Exchange) follow(ctx context.Context, f *follow) (Reply, error) {
	if x.settlement != nil || x.reader == nil {
		reply, err := x.Wait(ctx)
		if err != nil {
			return reply, err
		}
		return f.finish(reply)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answer := x.of.Service.AwaitAsync(ctx, x.turn.Request)
	for {
		select {
		case <-ctx.Done():
			return Reply{}, ctx.Err()
		case <-x.of.Service.Closing().Done():
			return Reply{}, service.ErrClosing
		case a := <-answer:
			if a.Err != nil {
				return Reply{}, a.Err
			}
			reply, err := x.settled(ctx, a.Settlement)
			if err != nil {
				return reply, err
			}
			return f.finish(reply)
		case <-x.reader.Wake():
			if err := f.serve(); err != nil {
				return Reply{}, err
			}
		}
	}
}

// follow is an exchange that is followed.
type follow struct {
	*Exchange
	to     Listener
	speech *Speech
	seen   int
	held   bool // that the model failed is not told
}

// spoken returns the entries that are told.
func (f *follow) spoken(entries []record.Entry) []record.Entry {
	if !f.held {
		return entries
	}
	return slices.DeleteFunc(slices.Clone(entries), record.Entry.ModelFailed)
}

// finish tells what is left. The text of the reply is what was told.
func (f *follow) finish(r Reply) (Reply, error) {
	if err := f.speech.Entries(f.spoken(r.Entries), true); err != nil {
		return r, err
	}
	if f.speech.said.Len() == 0 && !(f.held && r.Failure != "") {
		if err := f.speech.say(r.Text); err != nil {
			return r, err
		}
	}
	r.Text = f.speech.said.String()
	return r, f.to.Entries(r.Entries)
}

// serve tells what the reader has received.
func (f *follow) serve() error {
	items, beat, end := f.reader.Take()
	if end != nil {
		return end
	}
	said := f.speech.said.Len()
	for _, i := range items {
		if err := f.item(i); err != nil {
			return err
		}
	}
	if beat && f.speech.said.Len() == said {
		return f.to.KeepAlive()
	}
	return nil
}

func (f *follow) item(i live.Item) error {
	switch {
	case i.State != nil:
		err := f.state(i.State)
		if !f.turn.Started {
			f.turn.DropDrafts(i.Drafts)
		}
		return err
	case !f.turn.Started:
		f.turn.Buffer(i)
		return nil
	}
	return f.speech.Piece(i)
}

func (f *follow) state(s *record.State) error {
	began := f.turn.Started
	part, started := f.turn.Extract(*s)
	if !started {
		return nil
	}
	f.reader.ClearEager()
	entries, _ := f.entries(part)
	if err := f.speech.Entries(f.spoken(entries), false); err != nil {
		return err
	}
	if len(entries) > f.seen {
		f.seen = len(entries)
		if err := f.to.Entries(entries); err != nil {
			return err
		}
	}
	if began {
		return nil
	}
	for _, i := range f.turn.Release() {
		if err := f.speech.Piece(i); err != nil {
			return err
		}
	}
	return nil
}
