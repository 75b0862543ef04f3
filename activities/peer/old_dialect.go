package peer

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"agent-stop-and-go/activities/outbound"
	"agent-stop-and-go/workflows/contract"
)

// oldMessage are the params of message/send in the old dialect.
type oldMessage struct {
	TaskID  string `json:"taskId,omitempty"`
	Message struct {
		Role  string    `json:"role"`
		Parts []oldPart `json:"parts"`
	} `json:"message"`
}

type oldPart struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// sendOld sends the message in the old dialect, in which an agent answers when it is done or
// waits for input, and cannot deduplicate messages.
func (x *session) sendOld(ctx context.Context) (*task, error) {
	switch {
	case x.msg.Cancel:
		return x.oldCancel(ctx)
	case x.msg.Decision != "":
		return x.oldAnswer(ctx)
	case x.msg.TaskID != "":
		return x.oldGet(ctx)
	}
	return x.sendOnce(ctx, func(ctx context.Context) (*task, error) { return x.oldSend(ctx, x.msg.Text) })
}

// oldSend sends a message at most once: a message that may have been sent and was not answered
// is not repeated, unless it is a refusal.
func (x *session) oldSend(ctx context.Context, text string) (*task, error) {
	if x.msg.Repeated && text != string(contract.Rejected) {
		return nil, &uncertainError{err: errWorkerEnded}
	}
	ctx, cancel := context.WithTimeout(ctx, x.agent.opts.OldWait)
	defer cancel()
	params := oldMessage{TaskID: x.msg.TaskID}
	params.Message.Role, params.Message.Parts = "user", []oldPart{{Type: "text", Text: text}}
	resp, err := x.post(ctx, x.agent.fresh, "application/json", methods[Old].send, params)
	if err != nil {
		return nil, markUncertain(err)
	}
	defer resp.Body.Close()
	return x.oldTask(resp)
}

func (x *session) oldTask(resp *http.Response) (*task, error) {
	var e event
	if err := x.read(resp, &e); err != nil {
		return nil, markUncertain(err)
	}
	var t task
	if !t.add(e) {
		return nil, markUncertain(fmt.Errorf("%w: no task", errUnreadable))
	}
	if err := t.mustContinue(x.msg.TaskID); err != nil {
		return nil, markUncertain(err)
	}
	return &t, nil
}

// markUncertain wraps failures after which the message may have had an effect. A failure with a
// time to retry had none.
func markUncertain(err error) error {
	var wire *wireError
	var status *statusError
	var refused *rpcError
	switch {
	case errors.As(err, &refused):
		refused.Data = nil // a message without an ID is not sent again, whatever the agent says
	case errors.As(err, &wire) && wire.sent && !errors.Is(err, outbound.ErrRefused):
		return &uncertainError{err: err}
	case errors.As(err, &status) && status.Status >= 500 && status.After == 0,
		errors.Is(err, errUnreadable), errors.Is(err, errTooLarge):
		return &uncertainError{err: err}
	}
	return err
}

// oldAnswer answers the task's question if the task still asks it; to a completed task the
// answer would be a new message. If the answer was lost, the task's state shows the effect.
func (x *session) oldAnswer(ctx context.Context) (*task, error) {
	now, err := x.oldGet(ctx)
	if err != nil || now.state() != contract.TaskInputRequired || x.isAnother(now) {
		return now, err
	}
	t, err := x.sendOnce(ctx, func(ctx context.Context) (*task, error) { return x.oldSend(ctx, string(x.msg.Decision)) })
	if lost := new(uncertainError); !errors.As(err, &lost) {
		return t, err
	}
	if now, lookErr := x.oldGet(ctx); lookErr == nil && now.state() != contract.TaskInputRequired {
		return now, nil
	}
	return nil, err
}

// oldCancel rejects the task's question: the dialect has no other way to end a task.
func (x *session) oldCancel(ctx context.Context) (*task, error) {
	now, err := x.oldGet(ctx)
	if err != nil {
		return nil, err
	}
	if now.state() == contract.TaskInputRequired {
		if now, err = x.oldSend(ctx, string(contract.Rejected)); err != nil {
			return nil, err
		}
	} else if now.state().Over() {
		return now, nil
	}
	now.Status.State = state(contract.TaskCanceled)
	return now, nil
}

func (x *session) oldGet(ctx context.Context) (*task, error) {
	ctx, cancel := context.WithTimeout(ctx, x.agent.opts.Wait)
	defer cancel()
	var t task
	params := map[string]string{"id": x.msg.TaskID}
	if err := x.call(ctx, methods[Old].get, params, &t); err != nil {
		return nil, err
	}
	if err := t.mustBe(x.msg.TaskID); err != nil {
		return nil, err
	}
	return &t, nil
}
