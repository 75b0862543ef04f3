package peer

import (
	"context"
	"errors"
	"net/http"
	"slices"
)

var errWorkerEnded = errors.New("the worker that sent the message has ended")

// sendOnce sends a message. A destructive one is sent once, or a few times if the agent
// declares that it deduplicates. Its error is uncertain unless each attempt was not sent or was
// refused unread.
func (x *session) sendOnce(ctx context.Context, send func(context.Context) (*task, error)) (*task, error) {
	if !x.msg.Destructive {
		return send(ctx)
	}
	lost := x.msg.Repeated
	if lost && !x.endpoint.remembers {
		return nil, x.uncertain(errWorkerEnded)
	}
	for try := 1; ; try++ {
		t, err := send(ctx)
		if err == nil {
			return t, nil
		}
		lost = lost || !wasNotSent(err) && !refusedUnread(err)
		switch {
		case !lost:
			return nil, err
		case !x.endpoint.remembers || try == tries || ctx.Err() != nil:
			return nil, x.uncertain(err)
		}
		x.pause(ctx, firstPause)
	}
}

// await is poll for a task that a message has started or continued. A later failure does not
// mean that the message failed.
func (x *session) await(ctx context.Context, last *task) (*task, error) {
	t, err := x.poll(ctx, last)
	if err != nil && x.msg.Destructive {
		return nil, x.uncertain(err)
	}
	return t, err
}

func (x *session) uncertain(err error) *uncertainError {
	var known *uncertainError
	if errors.As(err, &known) {
		err = known.err
	}
	return &uncertainError{err: err, destructive: x.msg.Destructive}
}

// atMostOnce reports whether a request must not reach the agent twice.
func (x *session) atMostOnce(method string) bool {
	verbs := methods[x.endpoint.protocol]
	return x.msg.Destructive && !x.endpoint.remembers && (method == verbs.send || method == verbs.stream)
}

// wasNotSent reports whether not one byte of a request was sent.
func wasNotSent(err error) bool {
	var wire *wireError
	return errors.As(err, &wire) && !wire.sent
}

// refusedUnread reports whether the agent refused a message as such, before any effect.
// Internal errors and most statuses do not say so.
func refusedUnread(err error) bool {
	if errors.As(err, new(*uncertainError)) {
		return false
	}
	var status *statusError
	if errors.As(err, &status) {
		return slices.Contains(refusalStatuses, status.Status)
	}
	return isCode(err, codeParse, codeRequest, codeMethod, codeParams, codeTaskNotFound, codeUnsupported, codeContentType,
		codeExtension, codeVersion, codeUnauthorized, codePermission)
}

var refusalStatuses = []int{
	http.StatusUnauthorized, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusNotAcceptable, http.StatusLengthRequired,
	http.StatusRequestEntityTooLarge, http.StatusRequestURITooLong, http.StatusUnsupportedMediaType, http.StatusUpgradeRequired,
	http.StatusRequestHeaderFieldsTooLarge,
}
