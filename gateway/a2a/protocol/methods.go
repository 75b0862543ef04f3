package protocol

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
)

// method is an entry of the table: how params are read and which method of the Handler is
// called. Either do or stream is set.
type method struct {
	dialect Dialect
	read    func(params any) (req any, err error)
	do      func(ctx context.Context, h Handler, req any) (any, error)
	stream  func(ctx context.Context, h Handler, req any, after string) iter.Seq2[Event, error]
}

const (
	methodSendV03 = "message/send"
	methodGetV03  = "tasks/get"
)

// methods lists the methods of both versions. 0.3 had no tasks/list; it accepts the params of
// ListTasks.
var methods = map[string]method{
	"SendMessage":                      {V10, requestOf[a2a.SendMessageRequest](sendV10), send, nil},
	"SendStreamingMessage":             {V10, requestOf[a2a.SendMessageRequest](sendV10), nil, sendStream},
	"GetTask":                          {V10, requestOf[a2a.GetTaskRequest](getV10), answer(Handler.Get), nil},
	"ListTasks":                        {V10, requestOf[a2a.ListTasksRequest](listV10), answer(Handler.List), nil},
	"CancelTask":                       {V10, requestOf[a2a.CancelTaskRequest](idV10), answer(Handler.Cancel), nil},
	"SubscribeToTask":                  {V10, requestOf[a2a.SubscribeToTaskRequest](idV10), nil, subscribe},
	"CreateTaskPushNotificationConfig": {V10, requestOf[a2a.PushConfig](setPush), answer(Handler.SetPush), nil},
	"GetTaskPushNotificationConfig":    {V10, requestOf[a2a.GetTaskPushConfigRequest](onePush), answer(Handler.GetPush), nil},
	"ListTaskPushNotificationConfigs":  {V10, requestOf[a2a.ListTaskPushConfigRequest](allPush), answer(Handler.ListPush), nil},
	"DeleteTaskPushNotificationConfig": {V10, requestOf[a2a.DeleteTaskPushConfigRequest](onePush), remove, nil},
	"GetExtendedAgentCard":             {V10, requestOf[struct{}](noParams), extendedCard, nil},

	methodSendV03:                         {V03, converted(sendV03, a2av0.ToV1SendMessageRequest), send, nil},
	"message/stream":                      {V03, converted(sendV03, a2av0.ToV1SendMessageRequest), nil, sendStream},
	methodGetV03:                          {V03, converted(getV03, infallible(a2av0.ToV1GetTaskRequest)), answer(Handler.Get), nil},
	"tasks/list":                          {V03, requestOf[a2a.ListTasksRequest](listV03), answer(Handler.List), nil},
	"tasks/cancel":                        {V03, converted(idV03, infallible(a2av0.ToV1CancelTaskRequest)), answer(Handler.Cancel), nil},
	"tasks/resubscribe":                   {V03, converted(idV03, infallible(a2av0.ToV1SubscribeToTaskRequest)), nil, subscribe},
	"tasks/pushNotificationConfig/set":    {V03, converted(setPushV03, infallible(a2av0.ToV1PushConfig)), answer(Handler.SetPush), nil},
	"tasks/pushNotificationConfig/get":    {V03, converted(getPushV03, infallible(a2av0.ToV1GetTaskPushConfigRequest)), answer(Handler.GetPush), nil},
	"tasks/pushNotificationConfig/list":   {V03, converted(idV03, infallible(a2av0.ToV1ListTaskPushConfigRequest)), answer(Handler.ListPush), nil},
	"tasks/pushNotificationConfig/delete": {V03, converted(delPushV03, infallible(a2av0.ToV1DeleteTaskPushConfigRequest)), remove, nil},
	"agent/getAuthenticatedExtendedCard":  {V03, requestOf[struct{}](noParams), extendedCard, nil},
}

// methodOf returns the method of a request, with the reader for its dialect.
func methodOf(q request) (method, error) {
	m, ok := methods[q.method]
	switch {
	case !ok:
		return method{}, a2a.NewError(a2a.ErrMethodNotFound, "Method not found")
	case showsOld(q.method, q.params):
		m.dialect, m.read = Old, readOld
	}
	return m, nil
}

// answer converts a method of the Handler to a method's do.
func answer[Q, R any](f func(Handler, context.Context, *Q) (R, error)) func(context.Context, Handler, any) (any, error) {
	return func(ctx context.Context, h Handler, req any) (any, error) { return f(h, ctx, req.(*Q)) }
}

// send returns an event, because 1.0 states whether a message led to a task or a message.
func send(ctx context.Context, h Handler, req any) (any, error) {
	task, err := h.Send(ctx, req.(*a2a.SendMessageRequest))
	return Event{Event: task}, err
}

func sendStream(ctx context.Context, h Handler, req any, _ string) iter.Seq2[Event, error] {
	return h.SendStream(ctx, req.(*a2a.SendMessageRequest))
}

func subscribe(ctx context.Context, h Handler, req any, after string) iter.Seq2[Event, error] {
	return h.Subscribe(ctx, req.(*a2a.SubscribeToTaskRequest), after)
}

// noResult is the result of a method without one.
type noResult struct{}

func remove(ctx context.Context, h Handler, req any) (any, error) {
	return noResult{}, h.DeletePush(ctx, req.(*a2a.DeleteTaskPushConfigRequest))
}

// extendedCard distinguishes an extended card that the public card does not announce from one
// that is missing: 1.0 has different errors for the two.
func extendedCard(ctx context.Context, h Handler, _ any) (any, error) {
	extended, err := h.ExtendedCard(ctx)
	if CallOf(ctx).Dialect != V10 || !errors.Is(err, a2a.ErrExtendedCardNotConfigured) {
		return extended, err
	}
	public, failed := h.Card(ctx)
	switch {
	case failed != nil:
		return nil, fmt.Errorf("read the public card: %w", failed)
	case public.Capabilities.ExtendedAgentCard:
		return nil, err
	}
	return nil, fmt.Errorf("%w: the card announces no extended card", a2a.ErrUnsupportedOperation)
}

// requestOf decodes params into the SDK's request type Q.
func requestOf[Q any](s shape) func(any) (any, error) {
	return func(params any) (any, error) {
		q := new(Q)
		return q, s.read(params, q)
	}
}

// converted decodes params into the SDK's 0.3 type L and converts it to Q.
func converted[L, Q any](s shape, convert func(*L) (*Q, error)) func(any) (any, error) {
	return func(params any) (any, error) {
		l := new(L)
		if err := s.read(params, l); err != nil {
			return nil, err
		}
		q, err := convert(l)
		if err != nil {
			return nil, errors.Join(a2a.ErrInvalidParams, err)
		}
		return q, nil
	}
}

// infallible adapts a conversion that cannot fail.
func infallible[L, Q any](convert func(*L) *Q) func(*L) (*Q, error) {
	return func(l *L) (*Q, error) { return convert(l), nil }
}
