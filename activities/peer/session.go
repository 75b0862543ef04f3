package peer

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"agent-stop-and-go/workflows/contract"
)

// sendCurrent sends the message in 1.0 or 0.3. It waits until ctx ends; a task that is still
// working then is not an error.
func (x *session) sendCurrent(ctx context.Context) (*task, error) {
	switch {
	case x.msg.Cancel:
		return x.cancel(ctx)
	case x.msg.Decision != "":
		return x.answer(ctx)
	case x.msg.TaskID != "":
		return x.poll(ctx, &task{ID: x.msg.TaskID, ContextID: x.msg.ContextID})
	}
	return x.sendOnce(ctx, x.begin)
}

// begin is start. If the message continues a task that the agent does not know any more, or does
// not let it continue, it has refused the message, which then starts anew under an ID of its own.
func (x *session) begin(ctx context.Context) (*task, error) {
	t, err := x.start(ctx)
	if x.msg.Continues == nil || x.understood || !isCode(err, codeTaskNotFound, codeParams, codeUnsupported) {
		return t, err
	}
	x.msg.Continues, x.msg.MessageID = nil, contract.NameUUID(x.msg.MessageID, "anew")
	if t, err = x.start(ctx); t != nil {
		t.anew = true
	}
	return t, err
}

// start sends the message that starts a task, and waits for the result.
func (x *session) start(ctx context.Context) (*task, error) {
	m := x.newMessage(x.msg.Text)
	if x.endpoint.streaming && (x.endpoint.remembers || !x.msg.Destructive) { // an agent without streams gets a second request
		t, done, err := x.follow(x.stream(ctx, methods[x.endpoint.protocol].stream, x.sendParams(m)))
		switch {
		case isCode(err, codeUnsupported, codeMethod): // although its card declares streaming
			x.endpoint.streaming = false
		case t == nil:
			return nil, err
		case done:
			return t, nil
		default:
			return x.await(ctx, t)
		}
	}
	return x.deliver(ctx, m)
}

// deliver sends a message without a stream and waits for the result.
func (x *session) deliver(ctx context.Context, m *a2a.Message) (*task, error) {
	var e event
	if err := x.call(ctx, methods[x.endpoint.protocol].send, x.sendParams(m), &e); err != nil {
		return nil, err
	}
	var t task
	if !t.add(e) {
		return nil, fmt.Errorf("%w: neither a task nor a message", errUnreadable)
	}
	x.understood = true
	if err := t.mustContinue(x.msg.TaskID); err != nil {
		return nil, err
	}
	if !t.running() || t.ID == "" {
		return &t, nil
	}
	x.pause(ctx, firstPause)
	return x.await(ctx, &t)
}

// follow reads events until the task needs no more waiting, which done reports. If no event had
// a task, t is nil and err is not.
func (x *session) follow(events iter.Seq2[event, error]) (t *task, done bool, err error) {
	var now task
	for e, err := range events {
		if err != nil {
			return t, false, err
		}
		if now.add(e); e.message != nil || now.ID != "" {
			t, x.understood = &now, true
		}
		if t != nil && !t.running() {
			return t, true, nil
		}
	}
	if t == nil {
		return nil, false, &wireError{err: errors.New("the stream ended without a word"), sent: true}
	}
	return t, false, nil
}

// answer sends a decision. It reads the task before: a message that is sent a second time must
// not answer the next question, or start the work again.
func (x *session) answer(ctx context.Context) (*task, error) {
	wants := contract.TaskInputRequired
	if x.msg.Renews {
		wants = contract.TaskAuthRequired
	}
	now, err := x.get(ctx)
	switch {
	case err != nil && !isCode(err, codeMethod, codeUnsupported):
		return nil, err
	case now != nil && now.running():
		x.pause(ctx, firstPause)
		return x.poll(ctx, now)
	case now != nil && (now.state() != wants || x.isAnother(now)):
		return now, nil
	}
	m, err := x.decisionMessage(now)
	if err != nil {
		return nil, err
	}
	if x.msg.Destructive {
		return x.sendOnce(ctx, func(ctx context.Context) (*task, error) { return x.approve(ctx, m) })
	}
	return x.sendAnswer(ctx, m)
}

// approve sends an answer that has an effect, and reads the task if the outcome is not known.
func (x *session) approve(ctx context.Context, m *a2a.Message) (*task, error) {
	t, err := x.deliverInTime(ctx, m)
	if err == nil || wasNotSent(err) {
		return t, err
	}
	if now := x.stateAfterFailure(ctx); now != nil {
		return now, nil
	}
	return nil, err
}

// tries bounds the calls of an agent that refuses because its own turn is just ending.
const tries = 3

// sendAnswer sends an answer, and reads the task if it was refused or takes long. It uses no
// stream: a stream about an existing task may begin with its old state, and the official
// JavaScript server closes it after the work is done.
func (x *session) sendAnswer(ctx context.Context, m *a2a.Message) (*task, error) {
	for try := 1; ; try++ {
		t, err := x.deliverInTime(ctx, m)
		refused := errors.As(err, new(*rpcError))
		if err == nil || isCode(err, codeUnauthorized, codePermission) || !refused && ctx.Err() != nil {
			return t, err
		}
		if now := x.stateAfterFailure(ctx); now != nil {
			return now, nil
		}
		if try == tries || !isCode(err, codeInternal) || ctx.Err() != nil {
			return nil, err
		}
		x.pause(ctx, firstPause)
	}
}

// deliverInTime leaves a tenth of the time for reading the task.
func (x *session) deliverInTime(ctx context.Context, m *a2a.Message) (*task, error) {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)*9/10)
		defer cancel()
	}
	return x.deliver(ctx, m)
}

// isAnother reports whether a task asks another question than the one answered. A question
// without an ID is identified by its text; a task without a text asks the same.
func (x *session) isAnother(now *task) bool {
	if x.msg.Asked == nil || x.msg.Asked.UUID == "" {
		text := x.agent.reply(now).Text
		return x.msg.Question != "" && text != "" && text != x.msg.Question
	}
	asked := now.approvalRequest(x.agent.Name)
	return asked != nil && asked.UUID != x.msg.Asked.UUID
}

// stateAfterFailure returns the task if it continues although its agent refused the message or
// has not answered yet, else nil.
func (x *session) stateAfterFailure(ctx context.Context) *task {
	t, err := x.get(ctx)
	if err == nil && t.running() {
		t, err = x.poll(ctx, t)
	}
	if err != nil || t.state() == contract.TaskInputRequired && !x.isAnother(t) {
		return nil
	}
	return t
}

// cancel ends the task. It succeeds if the task has already ended.
func (x *session) cancel(ctx context.Context) (*task, error) {
	for try := 1; ; try++ {
		var t task
		err := x.call(ctx, methods[x.endpoint.protocol].cancel, x.taskParams(x.msg.TaskID), &t)
		if err == nil {
			err = t.mustBe(x.msg.TaskID)
		}
		if refused := new(rpcError); !errors.As(err, &refused) {
			return &t, err
		}
		now, lost := x.get(ctx)
		switch {
		case lost == nil && now.state().Over():
			return now, nil
		case lost != nil || try == tries || ctx.Err() != nil:
			return nil, err
		}
		x.pause(ctx, firstPause)
	}
}

// get reads the task.
func (x *session) get(ctx context.Context) (*task, error) {
	var t task
	if err := x.call(ctx, methods[x.endpoint.protocol].get, x.getParams(x.msg.TaskID), &t); err != nil {
		return nil, err
	}
	if err := t.mustBe(x.msg.TaskID); err != nil {
		return nil, err
	}
	return &t, nil
}
