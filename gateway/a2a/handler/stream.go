package handler

import (
	"context"
	"errors"
	"iter"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"agent-stop-and-go/gateway/a2a/protocol"
	"agent-stop-and-go/gateway/a2a/task"
	"agent-stop-and-go/gateway/live"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/record"
)

// SendStream implements protocol.Handler. The stream ends when the message has been answered
// or the task waits.
func (h *Handler) SendStream(ctx context.Context, req *a2a.SendMessageRequest) iter.Seq2[protocol.Event, error] {
	return func(yield func(protocol.Event, error) bool) {
		m, err := h.post(ctx, req)
		if err != nil {
			yield(protocol.Event{}, h.failureAfter(ctx, m, err))
			return
		}
		var history *int
		if req.Config != nil {
			history = req.Config.HistoryLength
		}
		o := shape(ctx, history)
		o.Hint = m.hint
		t := &taskStream{handler: h, ctx: ctx, sentMessage: m, stream: task.NewStream(o), yield: yield, untilSettled: true}
		t.run()
	}
}

// Subscribe implements protocol.Handler. Unlike SendStream it continues while the task waits,
// except for 0.3, whose clients expect it to end there.
func (h *Handler) Subscribe(ctx context.Context, req *a2a.SubscribeToTaskRequest, after string) iter.Seq2[protocol.Event, error] {
	return func(yield func(protocol.Event, error) bool) {
		view, err := h.sharedConversation(ctx, req.ID)
		v03 := protocol.CallOf(ctx).Dialect == protocol.V03
		if err == nil && view.TaskState().Over() && !v03 && after == "" {
			err = a2a.NewError(a2a.ErrUnsupportedOperation, "the task is over: "+string(view.TaskState()))
		}
		if err != nil {
			yield(protocol.Event{}, err)
			return
		}
		o := shape(ctx, nil)
		stream := task.NewStream(o)
		if after != "" {
			if stream, err = task.ResumeStream(o, after); err != nil {
				stream = task.NewStream(o) // the ID of another server's event
			}
		}
		t := &taskStream{
			handler: h, ctx: ctx, sentMessage: sentMessage{Request: service.Request{ConversationID: view.ID}, latest: view}, stream: stream,
			yield: yield, endsWaiting: v03, resumed: after != "",
		}
		t.run()
	}
}

// taskStream writes a task to one client.
type taskStream struct {
	handler *Handler
	sentMessage
	ctx    context.Context
	stream *task.Stream
	yield  func(protocol.Event, error) bool
	// untilSettled ends the stream when the message has been answered, endsWaiting when the
	// task waits.
	untilSettled, endsWaiting bool
	resumed                   bool // the client resumes after an event

	answer   <-chan service.Answer
	reader   *live.Reader
	answered bool
	started  bool
}

func (t *taskStream) run() {
	r, err := t.handler.followers.JoinCommitted(t.ctx, t.ConversationID, t.untilSettled)
	if err != nil {
		t.fail(err)
		return
	}
	defer t.handler.followers.Leave(r)
	t.reader = r
	client, cancel := context.WithCancel(t.ctx)
	defer cancel()
	if t.untilSettled && t.ID != "" && t.hint == "" {
		t.answer = t.handler.service.AwaitAsync(client, t.Request)
	} else {
		t.answered = true
	}
	r.RequestRead()
	if t.resumed && !t.yield(protocol.Event{}, nil) { // the next event may take long
		return
	}
	for t.step(client) {
	}
}

func (t *taskStream) fail(err error) {
	t.yield(protocol.Event{}, t.handler.failureAfter(t.ctx, t.sentMessage, err))
}

// step handles the next input and reports whether the stream continues. It ends when the
// gateway closes: the client subscribes again.
func (t *taskStream) step(client context.Context) bool {
	select {
	case <-client.Done():
		return false
	case <-t.handler.service.Closing().Done():
		return false
	case a := <-t.answer:
		t.answer = nil
		return t.settle(client, a)
	case <-t.reader.Wake():
		return t.serve()
	}
}

func (t *taskStream) serve() bool {
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
		t.fail(end)
		return false
	case beat:
		return t.yield(protocol.Event{}, nil)
	}
	return true
}

// state writes the events of a state, unless the state is older than the last one.
func (t *taskStream) state(s *record.State) bool {
	if !t.includesDecisions(s.View) {
		return true
	}
	return t.write(t.handler.sourceOf(t.ctx, *s))
}

// write writes the new events of a state and reports whether the stream continues.
func (t *taskStream) write(src task.Source) bool {
	for _, e := range t.stream.Update(src) {
		if !t.yield(protocol.Event(e), nil) {
			return false
		}
	}
	t.latest = src.View
	ends := t.endsWaiting && t.started || t.untilSettled && t.answered
	t.started = true
	return !t.stream.Over() && !(ends && isIdle(src.View))
}

// settle writes the result of the message. The stream ends there, unless the task works on
// another message.
func (t *taskStream) settle(client context.Context, a service.Answer) bool {
	t.answered = true
	if a.Err == nil {
		a.Err = t.refusal(a.Outcome)
	}
	if a.Err != nil {
		if client.Err() == nil {
			t.fail(a.Err)
		}
		return false
	}
	if t.started && live.Older(a.View, t.latest) { // a newer state was written
		return !isIdle(t.latest)
	}
	src, err := t.handler.source(client, a.View)
	if err != nil {
		t.fail(err)
		return false
	}
	return t.write(src)
}
