package gateway

import (
	"context"
	"errors"
	"iter"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"agent-stop-and-go/gateway/live"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/tasks"
	"agent-stop-and-go/gateway/tasks/story"
	"agent-stop-and-go/workflows/record"
)

// SendStream implements tasks.Handler. The stream ends when the message has been
// answered: with the task, or with what it waits for.
func (s a2aServer) SendStream(ctx context.Context, req *a2a.SendMessageRequest) iter.Seq2[tasks.Event, error] {
	return func(yield func(tasks.Event, error) bool) {
		p, err := s.post(ctx, req)
		if err != nil {
			yield(tasks.Event{}, s.failure(ctx, err))
			return
		}
		var history *int
		if req.Config != nil {
			history = req.Config.HistoryLength
		}
		o := s.shape(ctx, history)
		o.Hint = p.hint
		t := &telling{a2aServer: s, ctx: ctx, posted: p, story: story.New(o), yield: yield, untilSettled: true}
		t.run(p.id)
	}
}

// Subscribe implements tasks.Handler. Unlike SendStream it goes on while the task
// waits; clients of A2A 0.3 expect it to end there.
func (s a2aServer) Subscribe(ctx context.Context, req *a2a.SubscribeToTaskRequest, after string) iter.Seq2[tasks.Event, error] {
	return func(yield func(tasks.Event, error) bool) {
		view, err := s.glance(ctx, req.ID)
		v03 := tasks.CallOf(ctx).Dialect == tasks.V03
		if err == nil && view.TaskState().Over() && !v03 && after == "" {
			err = a2a.NewError(a2a.ErrUnsupportedOperation, "the task is over: "+string(view.TaskState()))
		}
		if err != nil {
			yield(tasks.Event{}, err)
			return
		}
		o := s.shape(ctx, nil)
		tale := story.New(o)
		if after != "" {
			if tale, err = story.Resume(o, after); err != nil {
				tale = story.New(o) // the ID is of another server's event
			}
		}
		t := &telling{
			a2aServer: s, ctx: ctx, posted: posted{id: view.ID, least: view}, story: tale, yield: yield,
			endsWaiting: v03, resumed: after != "",
		}
		t.run(view.ID)
	}
}

// telling tells a task to one client.
type telling struct {
	a2aServer
	posted
	ctx   context.Context
	story *story.Story
	yield func(tasks.Event, error) bool
	// untilSettled ends the stream when the message has been answered, endsWaiting
	// when the task has come to wait.
	untilSettled, endsWaiting bool
	resumed                   bool // behind an event

	settled  <-chan settlement
	reader   *live.Reader
	answered bool
	began    bool
}

func (t *telling) run(id string) {
	r, err := t.followers.JoinLasting(id, t.untilSettled)
	if err != nil {
		t.yield(tasks.Event{}, t.failure(t.ctx, err))
		return
	}
	defer t.followers.Leave(r)
	t.reader = r
	client, cancel := context.WithCancel(t.ctx)
	defer cancel()
	if t.untilSettled && t.requestID != "" && t.hint == "" {
		t.settled = t.settlement(client, ticket{conversationID: id, requestID: t.requestID})
	} else {
		t.answered = true
	}
	r.RequestRead()
	if t.resumed && !t.yield(tasks.Event{}, nil) { // there may be nothing to tell for long
		return
	}
	for t.step(client) {
	}
}

// step tells what is next, and whether there is more to come. When the gateway closes,
// the stream ends: the client subscribes again.
func (t *telling) step(client context.Context) bool {
	select {
	case <-client.Done():
		return false
	case <-t.base.Done():
		return false
	case s := <-t.settled:
		t.settled = nil
		return t.settle(client, s)
	case <-t.reader.Wake():
		return t.serve()
	}
}

func (t *telling) serve() bool {
	items, beat, end := t.reader.Take()
	for _, i := range items {
		if i.State != nil && !t.state(i.State) {
			return false
		}
	}
	switch {
	case errors.Is(end, live.ErrSlow), errors.Is(end, service.ErrClosing):
		return false
	case end != nil:
		t.yield(tasks.Event{}, t.failure(t.ctx, end))
		return false
	case beat:
		return t.yield(tasks.Event{}, nil)
	}
	return true
}

// state tells what is new in a state, unless it is older than what the client knows.
func (t *telling) state(s *record.State) bool {
	if !t.counted(s.View) {
		return true
	}
	return t.tell(t.sourceOf(t.ctx, *s))
}

// tell returns whether there may be more to come.
func (t *telling) tell(src story.Source) bool {
	for _, e := range t.story.Update(src) {
		if !t.yield(tasks.Event(e), nil) {
			return false
		}
	}
	t.least = src.View
	ends := t.endsWaiting && t.began || t.untilSettled && t.answered
	t.began = true
	return !t.story.Over() && !(ends && rests(src.View))
}

// settle tells what the message has come to. The stream ends there, unless the task is
// at work on another message.
func (t *telling) settle(ctx context.Context, s settlement) bool {
	t.answered = true
	if s.err == nil {
		s.err = t.refused(s.request)
	}
	if s.err != nil {
		if ctx.Err() == nil {
			t.yield(tasks.Event{}, t.failure(t.ctx, s.err))
		}
		return false
	}
	if t.began && live.Older(s.view, t.least) { // the client knows more than that
		return !rests(t.least)
	}
	src, err := t.source(ctx, s.view)
	if err != nil {
		t.yield(tasks.Event{}, t.failure(t.ctx, err))
		return false
	}
	return t.tell(src)
}
